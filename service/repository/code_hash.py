"""Hashes of the code and data that this process runs."""

import hashlib
import os
from functools import cache
from pathlib import Path
from typing import Final

import events
import service

SUFFIXES: Final = (".py", ".json", ".css")
_SERVICE: Final = Path(str(service.__file__)).parent


@cache
def code_hash(folder: Path) -> bytes:
    """A hash of the code and data in a folder."""
    hashed = hashlib.sha256()
    for place, subfolders, names in os.walk(folder):  # takes half the time of Path.rglob, and every process does it
        subfolders.sort()
        for name in sorted(names):
            if name.endswith(SUFFIXES):
                path = Path(place, name)
                hashed.update(f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return hashed.digest()


GAMES: Final = _SERVICE / "games"
FOLDING: Final = (Path(str(events.__file__)).parent, GAMES, _SERVICE / "match", _SERVICE / "repository")
"""The folders of what folds. By the import contracts it imports nothing else of this project but errors, settings and metrics."""

# Hash the files at import. If a new release is installed over this one later, a server that still runs this code also
# forks workers with this code, and they must not hash the new files.
for _folder in FOLDING:
    code_hash(_folder)
