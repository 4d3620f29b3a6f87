"""The reference is clean for the field's linters."""

import json
import re
from pathlib import Path

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


def test_spectral_finds_nothing() -> None:
    assert spectral(REFERENCE) == []


def test_both_would_find_something(tmp_path: Path) -> None:
    text = REFERENCE.read_text(encoding="utf-8")
    broken = tmp_path / "openapi.yaml"
    broken.write_text(
        re.sub(r"^  contact:\n.*\n", "", text, flags=re.MULTILINE).replace("operationId: healthz\n", "x-none: 1\n")
    )
    assert redocly(broken) == ["operation-operationId"]
    assert sorted(spectral(broken)) == ["info-contact", "operation-operationId"]


def test_the_lock_file_names_no_registry() -> None:
    lock = json.loads((HERE / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert packages
    assert all("resolved" not in package for package in packages.values())
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())
