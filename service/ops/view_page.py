"""Writes a replay as one HTML page that needs nothing else: the modules and style sheets of `api/web/` are inside.

Nothing of the match can run in it. The policy of the page allows its own script and style sheets only, by their hashes. The
data are in base64, whose alphabet has no character with a meaning in HTML.
"""

import gzip
import hashlib
import re
from base64 import b64encode
from importlib.resources import files
from typing import Final

import msgspec

from service.games.drawing.style import POLICY_SOURCE
from service.ops.modules import linked
from service.ops.viewed_match import Replay

_SHEETS: Final = ("style.css", "replay.css")


def page(replay: Replay) -> bytes:
    """The page of a replay, in UTF-8."""
    script = linked("saved.js", web_file)
    sheet = "\n".join(web_file(name) for name in _SHEETS)
    data = b64encode(gzip.compress(msgspec.json.encode(replay), 9, mtime=0)).decode()
    scripts, styles = _hash_of("script", script), _hash_of("style", sheet)
    policy = (
        f"default-src 'none'; script-src {scripts}; style-src {styles} {POLICY_SOURCE}; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types picture"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Moonstone: {replay.match.id}</title>
<style>{sheet}</style>
</head>
<body>
<div id="app"><noscript>This page needs JavaScript.</noscript></div>
<script type="text/plain" id="replay">{data}</script>
<script type="module">{script}</script>
</body>
</html>
""".encode()


def web_file(name: str) -> str:
    """A file of `api/web/`."""
    return files("api").joinpath("web", name).read_text("utf-8")


def _hash_of(tag: str, content: str) -> str:
    """The source of a policy that allows an element of this tag with this content.

    Raises:
        ValueError: HTML would end the element too early, or change its content.
    """
    if re.search(rf"</{tag}|<!--|\r|\0", content, re.IGNORECASE):
        raise ValueError(f"a {tag} contains what HTML would read as markup")
    return f"'sha256-{b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
