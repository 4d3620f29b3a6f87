"""What every game must obey in play, one function a law: it takes a table and fails with an AssertionError.

More laws stand in `laws_of_values` and `laws_of_sight`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

import msgspec

from service.games.kit.patterns import AnyOf, hints, listed
from service.games.protocol import CLOCK, Move, Ring, Rng, Task
from service.games.visibility import Action
from tests.service.games.matches import (
    Position,
    Refusal,
    Table,
    absent_match,
    deciding,
    distinct,
    draws,
    in_time,
    key,
    opening,
    pool,
    positions,
    random_match,
    refusals,
    spread,
    verdict,
    ways,
)

encode = msgspec.json.encode


def law_someone_may_act_or_it_is_over(table: Table) -> None:
    """A seat has one decision at most, and something to do exactly if it has one; the match ends, and stays at its end."""
    game = table.game
    for state in random_match(table).states:
        seats = [decision.seat for decision in game.decisions(state)]
        assert len(set(seats)) == len(seats), "a seat with two decisions"
        assert set(seats) <= {CLOCK, *range(table.seats)}
        for seat in range(table.seats):
            assert any(True for _ in game.legal_actions(state, seat)) == (seat in seats), (
                f"is seat {seat} asked or not?"
            )
    end = positions(table, 2)[-1]
    assert not game.decisions(end.state), "a match by chance does not end"
    for seat in range(table.seats):
        for action in spread(pool(table), 10):
            assert_refused(table, end, Move(seat, action, end.now))


def law_lists_are_lazy_ordered_and_distinct(table: Table) -> None:
    for position in positions(table, 20):
        for seat in (CLOCK, *range(table.seats)):
            entries = table.game.legal_actions(position.state, seat)
            assert isinstance(entries, Iterator)
            assert not isinstance(entries, type(iter(())) | type(iter([]))), "made before it is asked for"
            stored = [encode(entry) for entry in entries]
            assert stored == [encode(entry) for entry in table.game.legal_actions(position.state, seat)]
            assert len(set(stored)) == len(stored), "listed twice"
            assert seat != CLOCK or not stored, "the clock only rings"


def law_listed_actions_are_accepted_and_others_refused(table: Table) -> None:
    """In the decision's window; no verdict changes the state."""
    for position in positions(table, 16):
        before = encode(position.state)
        asked = deciding(table, position.state)
        for seat in range(table.seats):
            legal = tuple(table.game.legal_actions(position.state, seat))
            at = in_time(asked[seat], position.now) if seat in asked else position.now
            for entry in spread(legal, 30):
                for action in ways(entry):
                    found = verdict(table, position, Move(seat, action, at))
                    assert not isinstance(found, Refusal), f"{action} is listed and refused: {found}"
            for action in _unlisted(table, position, legal):
                assert_refused(table, position, Move(seat, action, at))
        assert encode(position.state) == before, "a verdict changed the state"


def law_refusals_name_their_clause(table: Table) -> None:
    """With an id that RULES.md has, and a code."""
    clauses = set(re.findall(r"[A-Z]+-\d+", table.game.rules))
    for refusal in refusals(table):
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", refusal.code), f"{refusal} has no code like others"
        assert refusal.clause in clauses, f"{refusal} names no clause"


def law_windows_are_kept(table: Table) -> None:
    """Nothing before a decision opens or from its deadline on; a bell rings from its deadline on, by the clock alone."""
    for position in positions(table, 16):
        asked = deciding(table, position.state)
        for seat, decision in asked.items():
            for entry in spread(tuple(table.game.legal_actions(position.state, seat)), 3):
                action = ways(entry)[0]
                if decision.opens_at is not None:
                    assert_refused(table, position, Move(seat, action, decision.opens_at - 1))
                if decision.deadline is not None:
                    assert_refused(table, position, Move(seat, action, decision.deadline))
        bell, at = Ring("bell"), position.now
        if CLOCK in asked:
            deadline = asked[CLOCK].deadline
            assert deadline is not None, "a bell without a time"
            bell, at = Ring(asked[CLOCK].step), deadline
            assert_refused(table, position, Move(CLOCK, bell, deadline - 1))
            found = verdict(table, position, Move(CLOCK, bell, deadline))
            assert not isinstance(found, Refusal), f"a bell is refused when it is due: {found}"
        else:
            assert_refused(table, position, Move(CLOCK, bell, at))
        assert_refused(table, position, Move(CLOCK, Ring("no such label"), at))
        for seat in range(table.seats):
            assert_refused(table, position, Move(seat, bell, at))
        for action in spread(pool(table), 5):
            assert_refused(table, position, Move(CLOCK, action, position.now))


def law_absent_players_come_to_an_end(table: Table) -> None:
    """A default action is legal; a wait without one is timed by the game, and a bell ends it."""
    absent = absent_match(table)
    assert not table.game.decisions(absent.states[-1]), "a table of absent players does not end"
    left = tuple(Position(ply.before, ply.move.at, ply.counts) for ply in absent.plies)
    for position in (*spread(left, 50), *positions(table, 50)):
        asked = deciding(table, position.state)
        for seat, decision in asked.items():
            action = decision.on_timeout
            if action is None:
                assert decision.deadline is not None, "no default action and no deadline"
                assert CLOCK in asked, "no default action and no bell"
                assert (asked[CLOCK].deadline or 0) <= decision.deadline, "the bell comes late"
            else:
                assert decision.deadline is None, "a wait that the game times is ended by its bell"
                assert listed(action, table.game.legal_actions(position.state, seat)), "a default action unlisted"
                found = verdict(table, position, Move(seat, action, position.now))
                assert not isinstance(found, Refusal), f"a default action is refused: {found}"


def law_all_chance_is_drawn(table: Table) -> None:
    """The same state and draws give the same effects; chance never says what is legal, and a refusal draws nothing."""
    effects, rng = opening(table)
    once = encode((effects, rng.drawn))
    effects, rng = opening(table)
    assert encode((effects, rng.drawn)) == once, "not the same setup twice"
    for ply in random_match(table).plies:
        rng = draws(key(table), ply.counts)
        effects = table.game.decide(ply.before, ply.move, rng)
        assert encode((effects, rng.drawn)) == encode((ply.effects, ply.drawn)), "a retry draws something else"
    for position in positions(table, 10):
        for seat, decision in deciding(table, position.state).items():
            for action in spread(pool(table), 20):
                move = Move(seat, action, in_time(decision, position.now))
                rng, other = (draws(seed, position.counts) for seed in (key(table), "another"))
                refused = isinstance(verdict(table, position, move, rng), Refusal)
                assert refused == isinstance(verdict(table, position, move, other), Refusal), "legal by chance"
                assert not (refused and rng.drawn), "drawn for an action that is refused"


def law_bots_choose_what_is_listed(table: Table) -> None:
    """From a task and draws alone; or nothing, where a bell ends the wait."""
    for position in positions(table, 16):
        for seat, decision in deciding(table, position.state).items():
            legal = tuple(table.game.legal_actions(position.state, seat))
            if not legal:
                continue
            task: Task[Any, Any] = Task(seat, decision.step, table.game.observation(position.state, seat), legal)
            for name, bot in table.game.bots.items():
                chosen = bot(task, draws("bot"))
                assert chosen == bot(task, draws("bot")), f"{name} has a chance of its own"
                if chosen is None:
                    assert decision.on_timeout is None, f"{name} waits where somebody must act"
                    continue
                assert listed(chosen, legal), f"{name} chose what is not listed"
                found = verdict(table, position, Move(seat, chosen, in_time(decision, position.now)))
                assert not isinstance(found, Refusal), f"{name} chose an illegal action: {found}"


def assert_refused(table: Table, position: Position, move: Move[Any]) -> None:
    assert isinstance(verdict(table, position, move), Refusal), f"{move} is accepted"


def _unlisted(table: Table, position: Position, legal: tuple[Action, ...]) -> Iterator[Action]:
    """Actions that the list does not hold: of other moments and seats, altered in one field, and misused patterns."""
    chance = draws("unlisted", position.counts)
    strangers = [one for kind in _by_type(table).values() for one in spread(_rotated(kind, chance), 8)]
    altered = [_altered(table, way, chance) for entry in spread(legal, 30) for way in ways(entry)]
    misused = [action for entry in spread(legal, 30) for action in _misused(entry)]
    for action in distinct((*strangers, *(action for action in altered if action is not None), *misused)):
        if not listed(action, legal):
            yield action


@cache
def _by_type(table: Table) -> Mapping[type[Action], tuple[Action, ...]]:
    found: dict[type[Action], list[Action]] = {}
    for action in pool(table):
        found.setdefault(type(action), []).append(action)
    return {kind: tuple(actions) for kind, actions in found.items()}


def _rotated(actions: Sequence[Action], chance: Rng) -> Sequence[Action]:
    first = chance.pick("first", range(len(actions)))
    return (*actions[first:], *actions[:first])


def _altered(table: Table, action: Action, chance: Rng) -> Action | None:
    """The action with one field, no hint, as some other action of its type has it."""
    fields = [name for name in action.__struct_fields__ if name not in hints(type(action))]
    if not fields:
        return None
    name = chance.pick("field", fields)
    other = chance.pick("other", (*_by_type(table).get(type(action), ()), action))
    return msgspec.structs.replace(action, **{name: getattr(other, name)})


def _misused(entry: Action) -> Iterator[Action]:
    """A pattern sent back as it is, or with a choice that it does not stand for."""
    for name in entry.__struct_fields__:
        pattern = getattr(entry, name)
        if isinstance(pattern, AnyOf):
            items = pattern.any_of
            choices = (pattern, items[: pattern.min - 1], (*items, "no such item"), ("no such item",), items[:1] * 2)
            yield from (msgspec.structs.replace(entry, **{name: choice}) for choice in choices)


LAWS: Final[tuple[Callable[[Table], None], ...]] = (
    law_someone_may_act_or_it_is_over,
    law_lists_are_lazy_ordered_and_distinct,
    law_listed_actions_are_accepted_and_others_refused,
    law_refusals_name_their_clause,
    law_windows_are_kept,
    law_absent_players_come_to_an_end,
    law_all_chance_is_drawn,
    law_bots_choose_what_is_listed,
)
