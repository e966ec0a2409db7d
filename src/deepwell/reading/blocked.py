"""Pages that stand in the way of a text instead of giving it: recognised by several signs together, never quoted."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from deepwell.errors import Unreadable


class Obstacle(StrEnum):
    """What is there instead of the text."""

    PAYWALL = "paywall"
    CONSENT = "consent wall"
    ROBOT_CHECK = "robot check"
    LOGIN = "login wall"
    SCRIPT_SHELL = "script shell"
    ERROR_PAGE = "error page"
    SIGNPOST = "signpost"


_CLAUSES = {
    Obstacle.PAYWALL: "shows its text to subscribers only.",
    Obstacle.CONSENT: "shows a consent form instead of its text.",
    Obstacle.ROBOT_CHECK: "asks its visitors to prove that they are human.",
    Obstacle.LOGIN: "asks its visitors to log in.",
    Obstacle.SCRIPT_SHELL: "shows no text unless its scripts are run.",
    Obstacle.ERROR_PAGE: "answers with an error page.",
    Obstacle.SIGNPOST: "only sends its visitors on to another address.",
}


class Blocked(Unreadable):
    """An address that answered, but not with its text."""

    final = True

    def __init__(self, obstacle: Obstacle, name: str) -> None:
        super().__init__(f"{name} {_CLAUSES[obstacle]}")
        self.obstacle = obstacle


@dataclass(frozen=True, slots=True)
class Look:
    """A page as far as it matters here."""

    name: str
    """Host and path, without the scheme."""
    title: str
    text: str
    """What was taken for the main text."""
    page: str
    """Everything a visitor would see, forms and bars included; its beginning is enough."""
    source: str
    """The markup, in lower case."""
    is_article: bool
    """Whether the page says of itself that it is one, and when it was published."""
    is_free: bool
    """False when the page says of itself that its text is for subscribers."""

    @property
    def words(self) -> int:
        """Of the main text; where words are not set apart by spaces, three characters count as one."""
        return max(len(self.text.split()), sum(map(_is_ideograph, self.text[:3000])) // 3)


def obstacle_in(look: Look) -> Obstacle | None:
    """What stands in the way, or None. A page with a good deal of text is never in the way, whatever else is in it."""
    if look.words > _MOST_WORDS:
        return None
    return next((obstacle for obstacle, is_seen in _CHECKS if is_seen(look)), None)


def blocked_by(sentence: str, name: str) -> Blocked | None:
    """The obstacle behind a sentence of ours: a process that parses can answer with no more than a sentence."""
    for obstacle, clause in _CLAUSES.items():
        if sentence == f"{name} {clause}":
            return Blocked(obstacle, name)
    return None


_MOST_WORDS = 400
_ERROR_WORDS = 120
_LOGIN_WORDS = 60
_TEASER_WORDS = 60
"""Fewer words than this are no text; more of them can be quoted, even when the rest has to be paid for."""
_SHELL_WORDS = 25
_SIGNPOST_WORDS = 60
_BARE_WORDS = 150
_CONSENT_MENTIONS = 3
_SENTENCE_END = re.compile(r"[.!?;\n]")


def _any_of(patterns: str) -> re.Pattern[str]:
    """One pattern a line; none of them repeats anything without a bound."""
    return re.compile("|".join(line.strip() for line in patterns.strip().splitlines()), re.IGNORECASE)


_ROBOT_VENDORS = tuple(
    """
    _cf_chl_opt cf-chl- cf-challenge cf-turnstile challenges.cloudflare.com cf-error-details captcha-delivery.com
    datadome px-captcha _pxappid perimeterx human-challenge _incapsula_resource gokuprops awswafintegration awswaf.com
    kpsdk sucuri_cloudproxy ddos-guard distil_r_captcha anubis_challenge cmd/anubis x-vercel-challenge
    errors.edgesuite.net validatecaptcha /sorry/index hcaptcha.com recaptcha/api
    recaptcha/enterprise arkoselabs.com friendlycaptcha geetest smartcaptcha
    """.split()
)
_ROBOT_WORDING = _any_of(r"""
    just a moment
    attention required
    are you (?:a )?(?:human|robot)
    you(?: a|['’])re (?:a )?(?:human|not a (?:ro)?bot)
    not a robot
    unusual (?:traffic|activity)
    automated (?:access|requests|traffic)
    (?:security|browser) (?:check|verification)
    checking your browser
    verif(?:y|ying) (?:that )?you
    press (?:&|and) hold
    (?:complete|solve) (?:the|a|this) captcha
    enter the characters
    (?:been|was) (?:denied|blocked)
    access (?:denied|to this page)
    pardon our interruption
    ddos protection
    bot (?:detection|protection)
""")
_CONSENT_VENDORS = tuple(
    """
    onetrust optanon didomi cookiebot cybotcookie sp_message sourcepoint privacy-mgmt qc-cmp quantcast.mgr usercentrics
    truste-consent trustarc fundingchoices fc-consent cmpbox consentmanager cookieconsent cookielaw iubenda axeptio
    guce.
    """.split()
)
_CONSENT_PLACE = _any_of(r"""
    ^(?:guce|consent|cmp|privacy)\.
    /(?:collectconsent|consent|cookie-?wall|privacy-?(?:wall|gate))\b
""")
_CONSENT_WORD = _any_of(r"""
    \bcookies?\b
    \bconsent
    \bprivacy\b
    \bpersonal data\b
    \bpersonali[sz]ed (?:ads|content|advertising)
    \b(?:our|and) (?:\d{1,5} )?(?:partners|vendors)\b
    \blegitimate interests?\b
    \b(?:accept|reject) all\b
    \bmanage (?:options|preferences|settings)\b
    \beinwillig
    \bdatenschutz
    \bakzeptieren\b
    \bconfidentialité\b
    \baccepter\b
    \bconsentimiento\b
    \bprivacidad\b
    \btoestemming\b
""")
_LOGIN_PLACE = _any_of(r"""
    /(?:log-?in|sign-?in|auth|sso|authwall|checkpoint)\b
    /(?:session/new|users/sign_in|accounts/login)\b
""")
_LOGIN_WORDING = _any_of(r"""
    \b(?:log|sign) ?in\b
    \bforgot (?:your )?password
    \bcreate (?:an|your) account
    \banmelden\b
    \beinloggen\b
    \bse connecter\b
    \biniciar sesión\b
    \baccedi\b
    \binloggen\b
""")
_PASSWORDS = ('type="password"', "type='password'", "type=password")
_PAYWALL_MARKS = (
    "paywall",
    "content_tier",
    "tinypass",
    "piano.io",
    "poool.fr",
    "subscriber",
    "premium-content",
    "regwall",
)
_PAYWALL_WORDING = _any_of(r"""
    subscribe (?:now )?(?:to|for) (?:read|continue|keep|unlock|get|full|unlimited)
    to (?:read|continue reading|view) (?:the|this) (?:full|rest|story|article)
    (?:for|to) subscribers(?: only)?\b
    already a (?:subscriber|member)
    subscriber[- ]only
    subscription (?:is )?required
    become a (?:member|subscriber)
    unlock this (?:article|story)
    free articles? (?:left|remaining|this month)
    nur für abonnenten
    jetzt weiterlesen
    réservé aux abonnés
    solo para suscriptores
    riservato agli abbonati
""")
_NEEDS_SCRIPTS = _any_of(r"""
    (?:enable|turn on|requires?|need|without|activ\w{1,4}|allow|habilitar)\W{1,3}(?:\w{1,12}\W{1,3}){0,4}?java ?script
    java ?script\W{1,3}(?:\w{1,12}\W{1,3}){0,4}?(?:enabled|required|disabled|turned off|aktivier|activé)
""")
_APP_ROOT = _any_of(r"""
    <(?:div|main)[^>]{0,200}?\bid=["']?(?:root|app|__next|__nuxt|___gatsby|svelte|q-app|mount)(?=["'\s>])[^>]{0,200}>\s{0,99}</
    <app-root\b
""")
# A page may well load itself anew every minute; one that only points elsewhere does so at once. No "<" within a tag: no
# part of the page is looked at twice.
_SENDS_ON = re.compile(
    r"""<meta(?=[^<>]{0,500}?\brefresh\b)[^<>]{0,500}?content\s{0,9}=\s{0,9}["']?\s{0,9}(?:\d|10)(?:\.\d{0,9})?\s{0,9}[;,]\s{0,9}url"""
)
_ERROR_TITLE = _any_of(r"""
    ^\W{0,3}(?:(?:http )?error\W{1,3})?(?:40[0134]|410|429|451|50[0234]|52[0-7])(?:\W{0,3}$|\s?[-–—|:•])
    \b(?:40[034]|410|50[023])\W{1,3}(?:error|not found|forbidden|gone|page|bad gateway|internal server)
    \b(?:page|file|article|resource|url)(?: you requested)? (?:was |is |could |can ?|does )?not (?:be )?(?:found|exist)
    \b(?:page|article|story|content) (?:can|could)(?:not|n['’]t|['’]t) be found
    ^\W{0,3}(?:not found|access denied|forbidden|bad gateway|service unavailable|gateway time-?out)\b
    ^\W{0,3}(?:internal server error|something went wrong|oops)\b
    \b(?:page|article|story|content) (?:is )?no longer (?:exists|available)
    seite nicht gefunden
    page (?:introuvable|non trouvée)
    página no(?: fue)? encontrada
    pagina non trovata
    pagina niet gevonden
    página não encontrada
    страница не найдена
""")


def _is_robot_check(look: Look) -> bool:
    # The same vendors guard forms on ordinary pages, so there must be nothing else on this one.
    if look.is_article or not _is_bare(look) or not _holds(look.source, _ROBOT_VENDORS):
        return False
    return look.words < _SHELL_WORDS or bool(_ROBOT_WORDING.search(_said(look)))


def _is_consent_wall(look: Look) -> bool:
    if look.is_article or not (_CONSENT_PLACE.search(look.name) or _holds(look.source, _CONSENT_VENDORS)):
        return False
    # A bar about cookies is on many pages; a wall is a page with nothing else on it.
    said = look.text if look.words >= _SHELL_WORDS else look.page
    if len(_CONSENT_WORD.findall(said)) < _CONSENT_MENTIONS:
        return False
    elsewhere = sum(len(part.split()) for part in _SENTENCE_END.split(said) if not _CONSENT_WORD.search(part))
    return elsewhere * 2 <= len(said.split())


def _is_paywall(look: Look) -> bool:
    if look.words >= _TEASER_WORDS:
        return False
    if not look.is_free:
        return True
    return _holds(look.source, _PAYWALL_MARKS) and bool(_PAYWALL_WORDING.search(look.page))


def _is_error_page(look: Look) -> bool:
    return look.words <= _ERROR_WORDS and not look.is_article and bool(_ERROR_TITLE.search(look.title))


def _is_login_wall(look: Look) -> bool:
    if look.words > _LOGIN_WORDS or look.is_article:
        return False
    has_form = _is_bare(look) and _holds(look.source, _PASSWORDS)
    return bool(_LOGIN_WORDING.search(_said(look))) and (has_form or bool(_LOGIN_PLACE.search(look.name)))


def _is_script_shell(look: Look) -> bool:
    if look.words > _SHELL_WORDS or not _is_bare(look) or "<script" not in look.source:
        return False
    return bool(_APP_ROOT.search(look.source) or _NEEDS_SCRIPTS.search(look.page))


def _is_signpost(look: Look) -> bool:
    if look.words > _SIGNPOST_WORDS or look.is_article or not _is_bare(look):
        return False
    return bool(_SENDS_ON.search(look.source))


_CHECKS: tuple[tuple[Obstacle, Callable[[Look], bool]], ...] = (
    (Obstacle.ROBOT_CHECK, _is_robot_check),
    (Obstacle.CONSENT, _is_consent_wall),
    (Obstacle.PAYWALL, _is_paywall),
    (Obstacle.ERROR_PAGE, _is_error_page),
    (Obstacle.LOGIN, _is_login_wall),
    (Obstacle.SCRIPT_SHELL, _is_script_shell),
    (Obstacle.SIGNPOST, _is_signpost),
)
"""The plainest first: an error page may have a login form at its top, but not the other way round."""


def _holds(source: str, marks: tuple[str, ...]) -> bool:
    return any(mark in source for mark in marks)


def _is_bare(look: Look) -> bool:
    """Whether there is little on the page at all, menus included."""
    return len(look.page.split()) <= _BARE_WORDS


def _said(look: Look) -> str:
    return f"{look.title}\n{look.page}"


def _is_ideograph(character: str) -> bool:
    return "\u3040" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7af"
