"""Which URLs may be called."""

import pytest

from service.repository.outgoing import MAX_URL, url_fault

GOOD = [
    "https://moon.example/hook",
    "https://moon.example",
    "https://moon.example:443/",
    "https://moon.example:8443/a?b=c&d=%20",
    "https://xn--mnd-1la.example/",
    "https://MOON.example/",
    "https://8.8.8.8/",
    "https://[2606:4700::1111]/",
]
BAD = [
    "",
    "moon.example",
    "http://moon.example/",
    "ftp://moon.example/",
    "file:///etc/passwd",
    "gopher://8.8.8.8/",
    "https://",
    "https:///path",
    "https://user@moon.example/",
    "https://user:secret@moon.example/",
    "https://moon.example/#part",
    "https://moon.example#",
    "https://moon.example:80/",
    "https://moon.example:6379/",
    "https://moon.example:0/",
    "https://moon.example:99999/",
    "https://moon.example:x/",
    "https://moon example/",
    "https://moon.example/a b",
    "https://moon.example\\@127.0.0.1/",
    "https://moon.example/\r\nHost: other",
    "https://mönd.example/",
    "https://①②⑦.⓪.⓪.①/",
    "https://127。0。0。1/",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://0/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.1/",
    "https://0177.0.0.1/",
    "https://moon.example.1/",
    "https://localhost/",
    "https://hook.localhost/",
    "https://intranet/",
    "https://moon.0x/",
    "https://169.254.169.254/latest/meta-data",
    "https://10.0.0.1/",
    "https://100.64.0.1/",
    "https://224.0.0.1/",
    "https://[::1]/",
    "https://[::]/",
    "https://[::ffff:169.254.169.254]/",
    "https://[64:ff9b::a9fe:a9fe]/",
    "https://[2002:a9fe:a9fe::]/",
    "https://[fe80::1%25eth0]/",
    "https://[::1/",
    "https://-moon.example/",
    "https://moon..example/",
    "https://" + "a." * 200 + "example/" + "x" * MAX_URL,
]
LOCAL = ["http://localhost:8000/", "http://127.0.0.1:8000/hook", "https://localhost:1024/", "http://[::1]:8000/"]


@pytest.mark.parametrize("url", GOOD)
def test_a_public_https_url_may_be_called(url: str) -> None:
    assert url_fault(url, loopback=False) is None
    assert url_fault(url, loopback=True) is None


@pytest.mark.parametrize("url", BAD)
def test_all_others_are_refused_with_a_sentence(url: str) -> None:
    fault = url_fault(url, loopback=False)
    assert fault is not None
    assert fault.startswith("must ")


@pytest.mark.parametrize("url", LOCAL)
def test_this_machine_may_be_called_only_for_development(url: str) -> None:
    assert url_fault(url, loopback=False) is not None
    assert url_fault(url, loopback=True) is None


@pytest.mark.parametrize(
    "url", ["http://moon.example/", "http://10.0.0.1/", "https://10.0.0.1/", "http://localhost:22/"]
)
def test_development_allows_nothing_else(url: str) -> None:
    assert url_fault(url, loopback=True) is not None
