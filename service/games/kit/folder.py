"""Reads the files beside the code of a game: rules, texts and components. Each is read once, at import."""

import json
from pathlib import Path
from typing import Any


def read_text(module_file: str, name: str) -> str:
    return (Path(module_file).parent / name).read_text(encoding="utf-8")


def read_json(module_file: str, name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(read_text(module_file, name))
    return value
