"""The files of the web client: how they are served, and what they may contain."""

import gzip
import re
from pathlib import Path
from typing import Final

import pytest
from flask import Flask
from flask.testing import FlaskClient

from api.app import create_app
from api.resources.web import FILES, POLICY, REVISION
from service.games.registry import GAMES
from tests.api.conftest import Container, problem
from tests.api.web import vendor

CLIENT: Final = Path(__file__).parents[3] / "api" / "web"
OWN: Final = sorted(path for path in CLIENT.iterdir() if path.suffix in {".js", ".css", ".html"})
MOST_SCRIPT: Final = 60_000
"""Bytes of all scripts of a page, compressed."""
LONGEST: Final = 300
"""Lines of a file."""


@pytest.fixture
def app() -> Flask:
    return create_app(Container())


def test_the_page_is_checked_at_each_visit_and_its_files_never_again(client: FlaskClient) -> None:
    page = client.get("/")
    assert (page.status_code, page.content_type) == (200, "text/html; charset=utf-8")
    assert page.headers["Cache-Control"] == "no-cache"
    addresses = re.findall(r'(?:href|src)="(web/[^"]+)"', page.text) + re.findall(r'"\./(web/[^"]+)"', page.text)
    assert len(addresses) > 5
    for address in addresses:
        answer = client.get(f"/{address}")
        assert answer.status_code == 200, address
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"


def test_every_file_has_its_type_and_a_strong_tag(client: FlaskClient) -> None:
    for name in FILES:
        _assert_served(client, name)


def _assert_served(client: FlaskClient, name: str) -> None:
    answer = client.get(f"/web/{REVISION}/{name}")
    assert answer.get_data() == (CLIENT / name).read_bytes() == FILES[name].content
    types_of = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
    assert answer.content_type == types_of.get(Path(name).suffix, "text/html; charset=utf-8")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["ETag"] == f'"{FILES[name].tag}"'
    same = client.get(f"/web/{REVISION}/{name}", headers={"If-None-Match": answer.headers["ETag"]})
    assert (same.status_code, same.get_data(), same.headers["ETag"]) == (304, b"", answer.headers["ETag"])


def test_large_files_are_compressed(client: FlaskClient) -> None:
    answer = client.get(f"/web/{REVISION}/words.js", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(answer.get_data()) == FILES["words.js"].content


NOT_SERVED: Final = (
    "/web/0000000000000000/main.js",
    f"/web/{REVISION}/nothing.js",
    f"/web/{REVISION}/../resources/web.py",
    f"/web/{REVISION}/%2e%2e/resources/web.py",
    f"/web/{REVISION}/types.d.ts",
    f"/web/{REVISION}/vendor/README.md",
    f"/web/{REVISION}/vendor",
    f"/web/{REVISION}/",
)


def test_nothing_else_is_served(client: FlaskClient) -> None:
    assert {path: problem(client.get(path)).code for path in NOT_SERVED} == dict.fromkeys(NOT_SERVED, "not-found")


def test_the_policy_allows_no_other_host_no_inline_code_and_no_markup_from_strings(client: FlaskClient) -> None:
    page = client.get("/")
    assert page.headers["Content-Security-Policy"] == POLICY
    rules = dict(rule.split(" ", 1) for rule in POLICY.split("; "))
    assert rules["default-src"] == "'none'"
    assert re.fullmatch(r"'self' 'sha256-[A-Za-z0-9+/]+=*'", rules["script-src"])
    assert (rules["connect-src"], rules["img-src"]) == ("'self'", "'self'")
    assert (rules["require-trusted-types-for"], rules["trusted-types"]) == ("'script'", "picture")
    assert not re.search("unsafe|https?:|data:|blob:", POLICY)
    assert "//" not in page.text.replace("<!doctype", "")


def test_the_files_of_the_client_count_in_no_limit(client: FlaskClient) -> None:
    answer = client.get(f"/web/{REVISION}/main.js")
    assert "RateLimit" not in answer.headers
    assert "RateLimit" in client.get("/").headers


def _loaded(name: str, found: dict[str, bytes]) -> dict[str, bytes]:
    """A module and the client's modules that it imports, directly or through others."""
    if name not in found:
        found[name] = FILES[name].content
        for other in re.findall(r'^import [^;]*?from "\./([^"]+)";', found[name].decode(), re.MULTILINE):
            _loaded(other, found)
    return found


@pytest.mark.parametrize("page", ["main.js", "table.js", "create.js", "replay-page.js", "rules-page.js"])
def test_the_scripts_of_each_page_are_small(page: str) -> None:
    libraries = {name: file.content for name, file in FILES.items() if re.fullmatch(r"vendor/.*\.js", name)}
    scripts = _loaded(page, _loaded("main.js", libraries))
    assert len(scripts) > 10
    assert sum(len(gzip.compress(script)) for script in scripts.values()) <= MOST_SCRIPT


def test_the_libraries_are_those_of_npm_and_the_table_says_which() -> None:
    assert {path.name: path.read_bytes() for path in vendor.FOLDER.iterdir()} == vendor.wanted()


def test_every_file_is_short_names_no_game_and_makes_no_markup_of_strings() -> None:
    for path in OWN:
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= LONGEST, path
        for game in GAMES.values():
            assert game.info.id not in text, path
            assert game.info.title not in text, path
        markup = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
        assert not re.search(markup, text), path
        assert "https://" not in text, path
        assert re.sub("http://www.w3.org/2000/svg", "", text).count("http://") == 0, path


def test_a_file_imports_only_files_of_the_client() -> None:
    libraries = set(re.findall(r'"([^"]+)": "\./web', (CLIENT / "index.html").read_text(encoding="utf-8")))
    for path in OWN:
        imported = set(re.findall(r'^import .*?from "([^"]+)";', path.read_text(encoding="utf-8"), re.MULTILINE))
        assert {name for name in imported if not (CLIENT / name).is_file()} <= libraries
