"""`python -m tests.openapi.reference` writes openapi.yaml (`make openapi`)."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from api.app import RESOURCES
from api.reference.openapi import document, render
from service.games.registry import GAMES

FILE: Final = "openapi.yaml"


def without_example(spec: Mapping[str, Any]) -> Iterator[str]:
    """The operations with a successful response whose content has no example."""
    for methods in spec["paths"].values():
        for operation in methods.values():
            responses = operation.get("responses", {}) if isinstance(operation, dict) else {}
            contents = [response.get("content", {}) for status, response in responses.items() if status.startswith("2")]
            if any("examples" not in one for content in contents for one in content.values()):
                yield operation["operationId"]


def main() -> None:
    spec = document(RESOURCES, GAMES)
    Path(FILE).write_text(render(spec), encoding="utf-8")
    sys.stdout.write(f"{FILE} is written\n")
    if lacking := ", ".join(without_example(spec)):
        sys.stderr.write(f"Warning: without an example in tests/openapi/examples.py: {lacking}\n")


if __name__ == "__main__":
    main()
