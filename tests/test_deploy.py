"""The Dockerfile and compose.yaml name only existing files and settings, and configure the servers as the service requires."""

import json
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from events.redis_log import DURABLE
from service.settings import VARIABLES, read

ROOT = Path(__file__).parent.parent
DOCKERFILE = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
PINNED = re.compile(r"[a-z./-]+:\d+\.\d+\.\d+(-[a-z-]+)*")


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} (.*)$", DOCKERFILE, re.MULTILINE)


def options(service: str) -> dict[str, str]:
    """The options with which a server is started."""
    program, *words = SERVICES[service]["command"]
    assert program == "valkey-server"
    return {name.removeprefix("--"): value for name, value in zip(words[::2], words[1::2], strict=True)}


def test_every_image_is_pinned_to_a_release() -> None:
    images = [line.partition(" AS ")[0] for line in instructions("FROM")]
    images += [service["image"] for service in SERVICES.values() if "image" in service]
    assert len(images) == 5
    assert [image for image in images if not PINNED.fullmatch(image)] == []


def test_every_source_that_the_image_copies_exists_and_is_not_ignored() -> None:
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").split() if line[0] == "!"]
    sources = [source for line in instructions("COPY") for source in line.split()[:-1]]
    assert sources
    for source in sources:
        assert (ROOT / source).exists()
        assert any(fnmatch(source, pattern) for pattern in allowed)
    packages = re.findall(r"include = \[(.*)\]", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))[0]
    assert {name.strip('" *') for name in packages.split(",")} <= set(sources)


def test_nothing_runs_as_root() -> None:
    (user,) = instructions("USER")
    assert f"useradd --system --uid 10001 --home-dir /data {user}" in DOCKERFILE
    for name, service in SERVICES.items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["read_only"], name
        assert "build" in service or "unprivileged" in service["image"] or re.fullmatch(r"\d+:\d+", service["user"])


def test_every_service_has_a_health_check_and_waits_until_those_it_needs_are_healthy() -> None:
    assert instructions("HEALTHCHECK")
    checked = {name for name, service in SERVICES.items() if "healthcheck" in service or "build" in service}
    assert checked == set(SERVICES)
    for service in SERVICES.values():
        for needed, how in service.get("depends_on", {}).items():
            assert needed in SERVICES
            assert how == {"condition": "service_healthy"}


def test_every_variable_is_a_setting_with_a_valid_value() -> None:
    image = dict(pair.split("=") for line in instructions("ENV") for pair in line.split())
    environ = {**image, **SERVICES["app"]["environment"]}
    ours = {name: value for name, value in environ.items() if name.startswith("MOONSTONE_")}
    assert ours.keys() <= {variable.name for variable in VARIABLES}
    settings = read(ours)
    (port,) = instructions("EXPOSE")
    assert settings.port == int(port)
    (command,) = instructions("CMD")
    assert json.loads(command) == ["moonstone", "serve"]
    for url in (settings.log_url, settings.queue_url):
        assert re.findall(r"//(\w+):6379", url or "")[0] in SERVICES
    assert settings.proxies == 1


def test_the_log_is_durable_and_has_a_volume() -> None:
    assert options("log").items() >= DURABLE.items()
    assert SERVICES["log"]["volumes"] == ["log:/data"]
    assert options("queue")["appendonly"] == "no"


@pytest.mark.parametrize("kind", ["networks", "volumes", "configs"])
def test_every_network_volume_and_file_is_defined_and_used(kind: str) -> None:
    used: set[str] = set()
    for service in SERVICES.values():
        for entry in service.get(kind, ()):
            used.add(entry["source"] if isinstance(entry, dict) else entry.partition(":")[0])
    assert used == set(COMPOSE[kind])


def test_the_proxy_does_not_buffer_streams_hides_metrics_and_forwards_client_addresses() -> None:
    nginx = COMPOSE["configs"]["nginx"]["content"].replace("$$", "$")
    assert "$" not in COMPOSE["configs"]["nginx"]["content"].replace("$$", "")
    for line in (
        "proxy_pass http://app:8080;",
        "proxy_buffering off;",
        "location = /metrics { return 404; }",
        "proxy_set_header Host $http_host;",
        "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
    ):
        assert line in nginx
    assert nginx.count("{") == nginx.count("}")
    assert all(networks == ["stores"] for networks in (SERVICES["log"]["networks"], SERVICES["queue"]["networks"]))
    assert COMPOSE["networks"]["stores"] == {"internal": True}
