"""Renews `api/web/vendor/` from npm: `python -m tests.api.web.vendor`.

The files are copied as they are. Their versions are those of `tests/openapi/package-lock.json`; `make vendor` takes the newest
ones that `package.json` there allows. The table in `README.md` has the version, the SHA-256 and the licence of each.
"""

import hashlib
import json
from pathlib import Path
from typing import Final, NamedTuple

from tests.openapi import tools

FOLDER: Final = Path(__file__).parents[3] / "api" / "web" / "vendor"


class Library(NamedTuple):
    """A file of an npm package, and its name in `vendor/`."""

    package: str
    file: str
    name: str


LIBRARIES: Final = (
    Library("preact", "dist/preact.mjs", "preact.js"),
    Library("preact", "hooks/dist/hooks.mjs", "preact-hooks.js"),
    Library("@preact/signals-core", "dist/signals-core.mjs", "signals-core.js"),
    Library("@preact/signals", "dist/signals.mjs", "signals.js"),
    Library("htm", "dist/htm.mjs", "htm.js"),
)
LICENCES: Final = {"preact": "preact", "@preact/signals": "signals", "htm": "htm"}
"""The packages with a licence file of their own, and its name in `vendor/`; signals-core has that of signals."""

_HEAD: Final = """# Libraries of the web client

Copies of files from npm, unchanged. `make vendor` renews them and this page.

| file | package | version | licence | SHA-256 |
|---|---|---|---|---|
"""


def wanted() -> dict[str, bytes]:
    """The files that `vendor/` must have, by name, as npm has them."""
    modules = tools.installed()
    found = {library.name: (modules / library.package / library.file).read_bytes() for library in LIBRARIES}
    found |= {f"LICENSE-{name}.txt": (modules / package / "LICENSE").read_bytes() for package, name in LICENCES.items()}
    rows = [_row(modules, library, found[library.name]) for library in LIBRARIES]
    return found | {"README.md": (_HEAD + "".join(rows)).encode()}


def _row(modules: Path, library: Library, content: bytes) -> str:
    about = json.loads((modules / library.package / "package.json").read_bytes())
    digest = hashlib.sha256(content).hexdigest()
    return f"| {library.name} | {library.package} | {about['version']} | {about['license']} | `{digest}` |\n"


def main() -> None:
    files = wanted()
    for path in FOLDER.iterdir():
        if path.name not in files:
            path.unlink()
    for name, content in files.items():
        (FOLDER / name).write_bytes(content)


if __name__ == "__main__":
    main()
