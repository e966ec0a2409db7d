import pytest

from deepwell.errors import Unreadable
from deepwell.reading.blocked import Blocked, Obstacle, blocked_by
from deepwell.reading.html import read_web

PROSE = "This is a sentence of an ordinary text, with words enough to be read and to be quoted. "
ARTICLE = f"<article>{''.join(f'<p>Part {part}. {PROSE * 3}</p>' for part in range(9))}</article>"

CLOUDFLARE = """<html><head><title>Just a moment...</title></head><body><noscript>Enable JavaScript and cookies to
continue</noscript><script>window._cf_chl_opt={cvId:'3'}</script></body></html>"""
TURNSTILE = """<html><head><title>example.org</title></head><body><h1>example.org</h1>
<p>Verifying you are human. This may take a few seconds.</p>
<p>example.org needs to review the security of your connection before proceeding.</p>
<script src="https://challenges.cloudflare.com/turnstile/v0/api.js"></script></body></html>"""
DATADOME = """<html><head><title>example.org</title></head><body><p>Please enable JS and disable any ad blocker</p>
<script>var dd={'host':'geo.captcha-delivery.com'}</script></body></html>"""
PERIMETERX = """<html><head><title>Access to this page has been denied</title></head><body>
<h1>Press &amp; Hold to confirm you are a human (and not a bot).</h1>
<div id="px-captcha"></div><script>window._pxAppId='PX1'</script></body></html>"""
AKAMAI = """<html><head><title>Access Denied</title></head><body><h1>Access Denied</h1>
<p>You don't have permission to access "http://example.org/" on this server.</p>
<p>https://errors.edgesuite.net/18.1</p></body></html>"""
CONSENT = """<html><head><title>Before you continue</title></head><body><form><h1>We value your privacy</h1>
<p>We and our 842 partners store cookies and process personal data for personalised ads and content.</p>
<p>You can manage options or withdraw your consent at any time.</p>
<button>Accept all</button><button>Reject all</button></form>
<script src="https://cdn.privacy-mgmt.com/x.js"></script></body></html>"""
CONSENT_PROSE = """<html><head><title>Your privacy</title></head><body><main>
<p>We and our 842 partners store cookies to show personalised ads. With your consent we process personal data; our
partners may rely on legitimate interest. See our privacy policy and cookie policy. Accept all cookies or manage
preferences before you go on to the site.</p></main></body></html>"""
LOGIN = """<html><head><title>Sign in</title></head><body><form action="/session"><label>Email</label><input name=e>
<input type="password" name=p><a href="/forgot">Forgot password?</a><button>Log in</button></form></body></html>"""
PAYWALL = """<html><head><title>Big news</title><script type="application/ld+json">{"@type": "NewsArticle",
"isAccessibleForFree": "False", "datePublished": "2024-01-02"}</script></head><body><article>
<p>The first sentence of it.</p></article></body></html>"""
PAYWALL_ASKING = """<html><head><title>Big news</title></head><body><article><p>The first sentence of it.</p></article>
<div class="paywall"><p>Subscribe to continue reading. Already a subscriber?</p></div></body></html>"""
SHELL = (
    """<html><head><title>App</title></head><body><div id="root"></div><script src="/main.js"></script></body></html>"""
)
SHELL_NOSCRIPT = """<html><head><title>App</title></head><body><noscript>You need to enable JavaScript to run this
app.</noscript><div class="x"></div><script src="/main.js"></script></body></html>"""
SOFT_404 = """<html><head><title>Page not found - Example</title></head><body><nav><a href="/">Home</a></nav><main>
<h1>Sorry</h1><p>The page you are looking for has moved or never was. Try the search.</p></main></body></html>"""
ERROR = """<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1><p>nginx</p></body></html>"""
SIGNPOST = """<html><head><title>Moved</title><meta http-equiv="refresh" content="0; url=https://example.org/new"></head>
<body><p>Moved <a href="https://example.org/new">here</a>.</p></body></html>"""
SIGNPOST_LATER = """<html><head><META content='5;URL=/new' http-equiv=Refresh></head><body><p>This page has a new
address. If your browser does not take you there within five seconds, follow this link, and change your bookmark
too.</p></body></html>"""
ERROR_NUMBER = """<html><head><title>404 | Example</title></head><body><p>There is nothing here.</p></body></html>"""


@pytest.mark.parametrize(
    ("page", "obstacle"),
    [
        (CLOUDFLARE, Obstacle.ROBOT_CHECK),
        (TURNSTILE, Obstacle.ROBOT_CHECK),
        (DATADOME, Obstacle.ROBOT_CHECK),
        (PERIMETERX, Obstacle.ROBOT_CHECK),
        (AKAMAI, Obstacle.ROBOT_CHECK),
        (CONSENT, Obstacle.CONSENT),
        (LOGIN, Obstacle.LOGIN),
        (PAYWALL, Obstacle.PAYWALL),
        (PAYWALL_ASKING, Obstacle.PAYWALL),
        (SHELL, Obstacle.SCRIPT_SHELL),
        (SHELL_NOSCRIPT, Obstacle.SCRIPT_SHELL),
        (SOFT_404, Obstacle.ERROR_PAGE),
        (ERROR, Obstacle.ERROR_PAGE),
        (ERROR_NUMBER, Obstacle.ERROR_PAGE),
        (SIGNPOST, Obstacle.SIGNPOST),
        (SIGNPOST_LATER, Obstacle.SIGNPOST),
    ],
)
def test_a_page_that_stands_in_for_the_text_is_recognised(page: str, obstacle: Obstacle) -> None:
    with pytest.raises(Blocked) as caught:
        read_web(page.encode(), "example.org/story")
    assert caught.value.obstacle is obstacle


def test_where_a_page_stands_is_a_sign() -> None:
    with pytest.raises(Blocked) as caught:
        read_web(CONSENT_PROSE.encode(), "consent.example.org/v2/collectConsent")
    assert caught.value.obstacle is Obstacle.CONSENT
    assert read_web(CONSENT_PROSE.encode(), "example.org/about").text


MARKS = """<script>window._cf_chl_opt=1</script><script src="https://www.google.com/recaptcha/api.js"></script>
<div class="paywall onetrust"></div><div id="root"></div><noscript>Please enable JavaScript</noscript>
<input type="password"><p>Are you a robot? Sign in. Subscribe to continue reading.</p>"""


@pytest.mark.parametrize(
    "page",
    [
        f"<html><head><title>404: a page not found</title></head><body>{ARTICLE}{MARKS}</body></html>",
        f"""<html><script type="application/ld+json">{{"isAccessibleForFree": false}}</script>
        <body>{ARTICLE}</body></html>""",
        # A short page with a guarded form.
        f"""<html><title>Contact</title><body><nav>{"<a href=x>Some page</a> " * 80}</nav><main><p>Write to us at this
        address; we answer within a day. Please tick the box to show that you are not a robot.</p></main>
        <script src="https://www.google.com/recaptcha/api.js"></script></body></html>""",
        # A short notice on a site with a bar about cookies.
        f"""<html><title>Opening hours</title><body><main><p>{PROSE * 2}</p></main><div id="onetrust-banner-sdk"><p>We
        use cookies. Accept all cookies or manage preferences. Privacy policy. Cookie policy.</p></div></html>""",
        "<html><title>Peugeot 404</title><p>The Peugeot 404 was made from 1960 to 1975 in Sochaux.</p></html>",
        "<html><title>404 Main Street</title><p>A house that was built in 1904 and sold in 1950.</p></html>",
        "<html><title>Note</title><p>A very short note.</p><script>x()</script></html>",
        # What loads itself anew points nowhere, at once or every minute.
        """<html><meta http-equiv="refresh" content="5"><title>Tide</title><p>High water at 10:42, 4.1 m.</p></html>""",
        """<html><meta http-equiv="refresh" content="60; url=/t"><title>Tide</title><p>High water: 10:42.</p></html>""",
        f"""<html><meta http-equiv="refresh" content="0; url=/no-scripts"><body>{ARTICLE}</body></html>""",
        "<html><title>Note</title><p>A very short note.</p><p><a href='/login'>Log in</a></p></html>",
        f"""<html><meta property="og:type" content="article"><title>Access denied: a history</title>
        <meta property="article:published_time" content="2024-01-01">
        <script src="https://hcaptcha.com/1/api.js"></script><p>{PROSE}</p></html>""",
    ],
)
def test_an_ordinary_page_is_read_whatever_else_is_on_it(page: str) -> None:
    assert read_web(page.encode(), "example.org/story").text


@pytest.mark.parametrize("obstacle", list(Obstacle))
def test_every_obstacle_has_a_sentence_that_names_it(obstacle: Obstacle) -> None:
    blocked = Blocked(obstacle, "example.org")
    assert isinstance(blocked, Unreadable)
    assert str(blocked).startswith("example.org ")
    found = blocked_by(str(blocked), "example.org")
    assert found is not None
    assert found.obstacle is obstacle


def test_other_sentences_name_no_obstacle() -> None:
    assert blocked_by("example.org holds no text to read.", "example.org") is None
