"""Fetches a match file from an address that the user of a command typed."""

import re
import threading
from http.client import HTTPException
from io import BufferedIOBase, BytesIO
from ipaddress import ip_address
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import SplitResult, urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

import click
import msgspec

from service.match.characters import printable
from service.ops import match_input

TIMEOUT_S: Final = 60
"""Seconds for a fetch as a whole, however slowly the server answers."""
_SILENCE_S: Final = 15
"""Seconds that the server may be silent."""
_MAX_PROBLEM_BYTES: Final = 1 << 16

_ID: Final = "[a-z2-7]{26}"
_MATCH_PATH: Final = re.compile(rf"(.*/v1/matches/{_ID})(/.*)?")
_ID_IN_FRAGMENT: Final = re.compile(rf"(?<![a-z2-7]){_ID}(?![a-z2-7])")


def is_address(source: str) -> bool:
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", source) is not None


def fetch(address: str) -> BufferedIOBase:
    """The match file at an address: that of a match of a service, of its replay, or of the file itself.

    Only https is used, or http to this machine. No redirect is followed.

    Raises:
        click.ClickException: the file cannot be fetched; the message says why in one sentence.
    """
    url = export_url(address)
    answers: list[bytes | str] = []
    thread = threading.Thread(target=lambda: answers.append(_read(url)), daemon=True)
    thread.start()
    thread.join(TIMEOUT_S)
    content = answers[0] if answers else f"the answer took longer than {TIMEOUT_S} seconds"
    if isinstance(content, str):
        raise click.ClickException(printable(f"{url}: {content}."))
    return BytesIO(content)


def export_url(address: str) -> str:
    """Where the match file is.

    Raises:
        click.UsageError: the address cannot be used.
    """
    try:
        parts = urlsplit(address)
        is_complete = parts.port != 0 and bool(parts.hostname)
    except ValueError:
        is_complete = False
    if not is_complete:
        raise click.UsageError(printable(f"{address} is not an address."))
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(parts.hostname)):
        raise click.UsageError(
            printable(f"{address}: give an address that begins with https://; http:// is only for this machine.")
        )
    if "@" in parts.netloc:
        raise click.UsageError("An address with a user's name or password is not used: it would be kept in logs.")
    return urlunsplit(_of_file(parts))


def _of_file(parts: SplitResult) -> SplitResult:
    if of_match := _MATCH_PATH.fullmatch(parts.path):
        return parts._replace(path=f"{of_match[1]}/export", query="", fragment="")
    if of_page := _ID_IN_FRAGMENT.search(parts.fragment):
        folder = parts.path.rpartition("/")[0]
        return parts._replace(path=f"{folder}/v1/matches/{of_page[0]}/export", query="", fragment="")
    return parts._replace(fragment="")


def _is_loopback(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host or "").is_loopback
    except ValueError:
        return False


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_args: Any) -> None:
        """Follow none: the answer is then an error with its status."""


def _read(url: str) -> bytes | str:
    """The content at a URL, or what went wrong."""
    proxies = ProxyHandler({} if url.startswith("http://") else None)
    try:
        with build_opener(_NoRedirects, proxies).open(Request(url), timeout=_SILENCE_S) as response:  # noqa: S310  (the scheme was checked)
            content = match_input.read(response)
            # A read of at most so many bytes does not report that the connection broke.
            return "the answer ended too early" if response.length else content
    except HTTPError as error:
        return f"the server answers {error.code}{_detail(error)}"
    except click.ClickException as error:
        return error.message.rstrip(".")
    except (OSError, HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        return f"it cannot be fetched: {str(reason) or type(error).__name__}"


class _Problem(msgspec.Struct):
    detail: str


def _detail(error: HTTPError) -> str:
    """The detail of a problem document, if the answer is one."""
    try:
        problem = msgspec.json.decode(error.read(_MAX_PROBLEM_BYTES), type=_Problem)
    except (OSError, HTTPException, ValueError, RecursionError):
        return ""
    return f": {problem.detail[:300].rstrip('.')}"
