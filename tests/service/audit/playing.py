"""Plays matches turn by turn, for the files of `match_files` and `hosted_files`."""

from typing import TypeAlias

from service.audit.match_file import export
from tests.service.arena import Arena, person

Lines: TypeAlias = tuple[bytes, ...]
"""A match file without the newlines: the first line, then an event for each version."""


def lines_of(arena: Arena, table: str) -> Lines:
    return tuple(line[:-1] for line in export(arena.ports, arena.match(table)))


def turn_of(arena: Arena, table: str, *, hosted: bool = False) -> str:
    """Plays the turns of bots; the person, or with `hosted` also the hosted bot, whose turn is next."""
    while True:
        arena.work(table)
        match = arena.match(table)
        (decision,) = match.decisions()
        name = person(match, decision.seat)
        if name is not None:
            return name
        holder = match.seats[decision.seat]
        if hosted and holder is not None and holder.is_hosted:
            return holder.player
        arena.time = max(arena.time, decision.plays_at or 0)


def their_turn(arena: Arena, table: str) -> None:
    """Plays the turns of bots, and then a person's action after three seconds."""
    name = turn_of(arena, table)
    arena.wait(3_000)
    arena.act(table, name)
