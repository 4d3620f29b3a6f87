"""The reference passes OpenAPI linters."""

import copy
import json
import re
from pathlib import Path
from typing import Final

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


IN_LONG_FORM: Final = pytest.mark.skipif(not LONG, reason="takes half a minute; the short form lints one path")


@IN_LONG_FORM
@pytest.mark.long
def test_redocly_finds_nothing() -> None:
    assert redocly(REFERENCE) == []


@IN_LONG_FORM
@pytest.mark.long
def test_spectral_finds_nothing() -> None:
    assert spectral(REFERENCE) == []


def of_one_path(path: str) -> Json:
    """The reference reduced to one path and the components that it needs, because linting all of it takes long."""
    whole = reference()
    operations = [one for one in whole["paths"][path].values() if isinstance(one, dict)]
    schemes = {name for one in operations for allowed in one.get("security", ()) for name in allowed}
    named = {("securitySchemes", name) for name in schemes}
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


def test_redocly_finds_nothing_in_one_path(tmp_path: Path) -> None:
    reduced = tmp_path / "openapi.yaml"
    reduced.write_text(yaml.safe_dump(of_one_path("/v1/matches/{match_id}/seats")))
    assert redocly(reduced) == []


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
