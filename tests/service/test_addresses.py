"""Every accepted address makes a client; every rejected one would fail inside a client."""

import pytest
import redis.exceptions

from service.adapters import jobs
from service.addresses import host_of, is_host, is_origin, is_server
from service.container import connect_log

SCHEMES = ("redis", "rediss", "unix", "cluster")
ACCEPTED = (
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


@pytest.mark.parametrize("url", ACCEPTED)
def test_a_client_of_an_accepted_address_fails_only_to_connect(url: str) -> None:
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
def test_a_url_on_which_a_client_would_fail_is_rejected(url: str) -> None:
    assert not is_server(url, SCHEMES)


@pytest.mark.parametrize(
    ("text", "accepted"),
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
def test_a_host_is_an_address_or_a_name_without_a_port(text: str, *, accepted: bool) -> None:
    assert is_host(text) == accepted


@pytest.mark.parametrize(
    ("text", "accepted"),
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
def test_an_origin_is_as_browsers_write_it(text: str, *, accepted: bool) -> None:
    assert is_origin(text) == accepted


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
def test_a_host_may_have_a_valid_port(text: str, host: str | None) -> None:
    assert host_of(text) == host
