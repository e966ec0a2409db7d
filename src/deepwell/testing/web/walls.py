"""Pages that stand in the way of a text, as sites really word them."""

_HEAD = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>{more}</head>'

CAPTCHA = (
    _HEAD.format(title="Just a moment...", more='<script src="https://challenges.cloudflare.com/turnstile"></script>')
    + "<body><h1>Checking your browser</h1><p>Verify that you are human by completing the action below.</p>"
    + '<div class="cf-turnstile"></div></body></html>'
)
PAYWALL = (
    _HEAD.format(title="The harbour in the war years", more="")
    + "<body><article><h1>The harbour in the war years</h1><p>It was a cold morning when the lamps went out.</p>"
    + '<div class="paywall"><p>Subscribe to continue reading. Already a subscriber? Log in.</p></div>'
    + "</article></body></html>"
)
SCRIPT_SHELL = (
    _HEAD.format(title="App", more='<script src="/static/main.js" defer></script>')
    + '<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>'
)
