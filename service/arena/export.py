"""A folder of match files: it belongs to one contest, which its file `contest.json` describes."""

from pathlib import Path
from typing import Final

import msgspec

from service.arena.deals import UNREADABLE, Contest

CONTEST_FILE: Final = "contest.json"


class NotThisFolder(Exception):
    """The folder has files of something else; the message says of what."""


def begin(folder: Path, contest: Contest) -> None:
    """Make the folder of a contest's match files, or continue to use it.

    Raises:
        NotThisFolder: it has files of another contest, or of no contest. It is unchanged.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / CONTEST_FILE
    if not file.exists():
        if any(folder.iterdir()):
            raise NotThisFolder(f"{folder} has files of something else; give the name of a new folder.")
        file.write_bytes(msgspec.json.format(msgspec.json.encode(contest)) + b"\n")
        return
    try:
        found = msgspec.json.decode(file.read_bytes(), type=Contest)
    except UNREADABLE as error:
        raise NotThisFolder(f"{file} is not the file of an arena: {error}.") from None
    if difference := contest.difference(found):
        raise NotThisFolder(f"{folder} has the matches of another contest, with {difference}; give another folder.")
