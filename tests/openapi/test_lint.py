"""The reference passes OpenAPI linters."""

import copy
import json
import re
from pathlib import Path

import pytest
import yaml

from tests.api.checked import Json, reference
from tests.length import LONG
from tests.openapi.tools import HERE, REFERENCE, run

REDOCLY = "@redocly/cli/bin/cli.js"
SPECTRAL = "@stoplight/spectral-cli/dist/index.js"


def redocly(path: Path) -> list[str]:
    done = run(REDOCLY, "lint", str(path), "--config", str(HERE / "redocly.yaml"), "--format", "json")
    return [problem["ruleId"] for problem in json.loads(done.stdout)["problems"]]


def spectral(path: Path) -> list[str]:
    done = run(SPECTRAL, "lint", str(path), "--ruleset", str(HERE / "spectral.yaml"), "-f", "json", "-q")
    return [problem["code"] for problem in json.loads(done.stdout)]


def test_redocly_finds_nothing() -> None:
    assert redocly(REFERENCE) == []


@pytest.mark.skipif(not LONG, reason="takes half a minute; redocly reads the reference in every run")
@pytest.mark.long
def test_spectral_finds_nothing() -> None:
    assert spectral(REFERENCE) == []


def of_one_path(path: str) -> Json:
    """The reference reduced to one path and the components that it needs, because linting all of it takes long."""
    whole = reference()
    named: set[tuple[str, str]] = set()
    remaining: list[object] = [paths := {path: whole["paths"][path]}]
    while remaining:
        for kind, name in re.findall(r"'#/components/(\w+)/([\w-]+)'", str(remaining.pop())):
            if (kind, name) not in named:
                named.add((kind, name))
                remaining.append(whole["components"][kind][name])
    components = {
        kind: {name: one for name, one in members.items() if (kind, name) in named}
        for kind, members in whole["components"].items()
    }
    return copy.deepcopy({**whole, "paths": paths, "webhooks": {}, "components": components})


def test_both_linters_find_a_fault(tmp_path: Path) -> None:
    part = of_one_path("/healthz")
    del part["info"]["contact"]
    del part["paths"]["/healthz"]["get"]["operationId"]
    broken = tmp_path / "openapi.yaml"
    broken.write_text(yaml.safe_dump(part))
    assert redocly(broken) == ["operation-operationId"]
    assert sorted(spectral(broken)) == ["info-contact", "operation-operationId"]


def test_the_lock_file_names_no_registry() -> None:
    lock = json.loads((HERE / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert packages
    assert all("resolved" not in package for package in packages.values())
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())
