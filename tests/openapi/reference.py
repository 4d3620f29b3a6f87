"""`python -m tests.openapi.reference` writes openapi.yaml (`make openapi`)."""

import sys
from pathlib import Path
from typing import Final

from api.app import describe
from api.reference.openapi import document, render

FILE: Final = "openapi.yaml"


def main() -> None:
    Path(FILE).write_text(render(document(describe())), encoding="utf-8")
    sys.stdout.write(f"{FILE} is written\n")


if __name__ == "__main__":
    main()
