"""Prints a digest of the matches at every table: `python -m tests.service.games.digests`.

A law runs it in processes with different hash seeds.
"""

import hashlib
import json

import msgspec

from tests.service.games import broken, broken_pictures, broken_sight
from tests.service.games.matches import Table, absent_match, random_match
from tests.service.games.tables import TABLES


def digest(table: Table) -> str:
    return hashlib.sha256(msgspec.json.encode((random_match(table), absent_match(table)))).hexdigest()


if __name__ == "__main__":
    print(
        json.dumps(
            {
                table.name: digest(table)
                for table in (
                    *TABLES,
                    *(fault.table for fault in (*broken.FAULTS, *broken_sight.FAULTS, *broken_pictures.FAULTS)),
                )
            }
        )
    )
