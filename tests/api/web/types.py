"""Checks the types of the web client with `tsc`, as `make lint` does: `python -m tests.api.web.types`.

The types of the libraries are those of their npm packages. `contract.ts` compares what the client reads with openapi.yaml.
"""

import sys
from pathlib import Path
from typing import Final

from tests.openapi import tools

HERE: Final = Path(__file__).parent
CLIENT: Final = tools.ROOT / "api" / "web"
BUILD: Final = tools.BUILD / "web-types"


def check() -> str:
    """What `tsc` reports; empty if it finds nothing."""
    BUILD.mkdir(parents=True, exist_ok=True)
    generated = BUILD / "openapi.d.ts"
    made = tools.run("openapi-typescript/bin/cli.js", str(tools.REFERENCE), "--output", str(generated))
    assert made.returncode == 0, made.stderr
    config = (HERE / "tsconfig.json").read_text(encoding="utf-8")
    for name, folder in {"modules": tools.installed(), "build": BUILD, "client": CLIENT, "tests": HERE}.items():
        config = config.replace(f"{{{name}}}", folder.as_posix())
    (BUILD / "tsconfig.json").write_text(config, encoding="utf-8")
    return tools.run("typescript/bin/tsc", "--project", str(BUILD)).stdout


if __name__ == "__main__":
    sys.exit(check() or 0)
