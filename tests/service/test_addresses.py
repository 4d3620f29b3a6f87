"""Addresses: what is let in makes a client, and what is not would have failed inside of one."""

import pytest
import redis.exceptions

from service.adapters import jobs
from service.addresses import host_of, is_origin, is_place, is_server
from service.container import connect_log

SCHEMES = ("redis", "rediss", "unix", "cluster")
LET_IN = (
    "redis://127.0.0.1:1",
    "redis://me:p%40ss@127.0.0.1:1/0",
    "redis://127.0.0.1:1/15",
    "redis://127.0.0.1:1/?db=15",
    "redis://[::1]:1",
    "redis://none.invalid:1",
    "unix:///none?db=1",
    "unix://me:pw@/none",
    "rediss://127.0.0.1:1/1",
    "rediss://127.0.0.1:1?ssl_ca_certs=/none&ssl_certfile=/none&ssl_keyfile=/none&ssl_password=x",
    "rediss://127.0.0.1:1?ssl_cert_reqs=none&ssl_check_hostname=false&ssl_ca_path=/none",
)


@pytest.mark.parametrize("url", LET_IN)
def test_a_server_that_is_let_in_fails_only_by_not_answering(url: str) -> None:
    assert is_server(url, SCHEMES)
    for client in (connect_log(url), jobs.connect(url)):
        with client, pytest.raises(redis.exceptions.ConnectionError):
            client.ping()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "redis",
        "redis://",
        "redis://log:0",
        "redis://log/first",
        "redis://log/-1",
        "redis://log/" + "9" * 4301,
        "redis://log?foo=bar",
        "redis://log?foo",
        "redis://log?db=x",
        "redis://log?db=",
        "redis://log?db=1&db=2",
        "redis://log?db=%FF",
        "redis://log?socket_timeout=1",
        "redis://log?decode_responses=true",
        "redis://log?ssl_ca_certs=/a",
        "redis://me:4711?pass@log",
        f"redis://{'a' * 64}.example",
        "redis://a..b",
        "redis://%ff",
        "redis://a b",
        "rediss://log?ssl_keyfile=/a",
        "rediss://log?ssl_ca_certs=/a%00b",
        "rediss://log?ssl_min_version=x",
        "rediss://log?ssl_cert_reqs=maybe",
        "unix:///run/queue.sock?db=x",
        "unix://run/queue.sock",
        "cluster://log/1",
        "cluster://log?db=0",
        "http://log",
    ],
)
def test_a_server_that_a_client_would_stumble_over_is_none(url: str) -> None:
    assert not is_server(url, SCHEMES)


@pytest.mark.parametrize(
    ("text", "let_in"),
    [
        ("127.0.0.1", True),
        ("0.0.0.0", True),
        ("::", True),
        ("fe80::1%eth0", True),
        ("localhost", True),
        ("moon_1.example.", True),
        ("", False),
        ("..", False),
        ("[::1]", False),
        ("moon:80", False),
        ("a" * 64, False),
        ("m\u00f6n", False),
        ("moon\n", False),
    ],
)
def test_a_place_is_an_address_or_a_name_without_a_port(text: str, *, let_in: bool) -> None:
    assert is_place(text) == let_in


@pytest.mark.parametrize(
    ("text", "let_in"),
    [
        ("https://moon.example", True),
        ("http://localhost:5173", True),
        ("http://localhost:65535", True),
        ("http://localhost:65536", False),
        ("http://[::::]", False),
        ("http://[::1]:81", True),
        ("http://", False),
        ("http://[", False),
        ("http://:80", False),
        ("http://moon.example:", False),
        ("http://me:pw@moon.example", False),
        ("https://Moon.example", False),
        ("https://moon.example/", False),
        ("https://m\u00f6n.example", False),
        ("ftp://moon.example", False),
    ],
)
def test_an_origin_is_as_browsers_write_it(text: str, *, let_in: bool) -> None:
    assert is_origin(text) == let_in


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("moon", "moon"),
        ("Moon.example:80", "Moon.example"),
        ("[::1]:65535", "[::1]"),
        ("moon:0", "moon"),
        ("moon:65536", None),
        ("moon:99999", None),
        ("moon:123456", None),
        ("moon:", None),
        ("moon:\u0661", None),
        ("[::1", None),
        ("[::1::]", None),
        ("[1.2.3.4]", None),
        ("me@moon", None),
        ("moon/", None),
        ("", None),
    ],
)
def test_a_host_may_have_a_port_that_there_can_be(text: str, host: str | None) -> None:
    assert host_of(text) == host
