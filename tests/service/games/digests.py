"""Prints a digest of the matches at each table that is named: `python -m tests.service.games.digests NAME ...`.

A law runs it in processes with different hash seeds.
"""

import hashlib
import json
import sys

import msgspec

from tests.service.games import broken, broken_pictures, broken_sight
from tests.service.games.matches import Table, absent_match, random_match
from tests.service.games.tables import TABLES


def digest(table: Table) -> str:
    return hashlib.sha256(msgspec.json.encode((random_match(table), absent_match(table)))).hexdigest()


if __name__ == "__main__":
    faults = (*broken.FAULTS, *broken_sight.FAULTS, *broken_pictures.FAULTS)
    known = {table.name: table for table in (*TABLES, *(fault.table for fault in faults))}
    print(json.dumps([digest(known[name]) for name in sys.argv[1:]]))
