"""Verification accepts a valid match file, and reports a forged one at the first wrong event."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.record import canonical, digest
from service.audit.verify import CHECKS, Fault, verify
from service.games.protocol import AnyGame
from service.games.registry import GAMES as REGISTERED
from tests.length import LONG
from tests.service.arena import ENDLESS
from tests.service.audit import forged_events, forged_files, forged_format_2, forged_hosted
from tests.service.audit.forged_events import UNKNOWN_BOT
from tests.service.audit.forged_format_2 import OF_FORMAT_2, Found
from tests.service.audit.match_files import GOOD, OLD, File, Lines, agreed, toy
from tests.service.games.toy.game import TOY

GAMES: Final[dict[str, AnyGame]] = {**REGISTERED, "toy": TOY}

EVERY: Final[list[Callable[[], Lines]]] = [*GOOD, *OLD.values()]


def fault_of(lines: Lines) -> Found:
    """The version of the first fault of a match file, and the check that found it."""
    with pytest.raises(Fault) as caught:
        verify(lines, GAMES)
    assert str(caught.value) == f"version {caught.value.version}: {caught.value.text}"
    return caught.value.version, caught.value.check


@pytest.mark.unmeasured
@pytest.mark.parametrize("lines", EVERY)
def test_a_good_file_passes_every_check(lines: Callable[[], Lines]) -> None:
    verdict = verify(lines(), GAMES)
    assert verdict.checks == CHECKS
    assert verdict.match.head.version == len(lines()) - 1
    assert verdict.match.status in {"finished", "aborted"}
    assert verify([line + b"\n" for line in lines()], GAMES) == verdict
    assert File(lines()).sealed() == lines()


def test_the_good_files_have_every_kind_of_event() -> None:
    kinds = {(event["type"], event["data"].get("reason")) for lines in GOOD for event in File(lines()).events[1:]}
    assert kinds == {
        ("match_created", None), ("seat_taken", None), ("seat_left", None), ("match_started", None), ("action", None),
        ("timer", None), ("default_action", "clock"), ("default_action", "player-left"),
        ("default_action", "bot-failed"), ("resigned", None), ("clock_extended", "outage"),
        ("match_suspended", "KeyError"), ("match_resumed", None), ("match_scored", None), ("seed_revealed", None),
        ("match_aborted", "creator-left"), ("match_aborted", "expired"), ("match_aborted", "agreed"), ("abort_asked", None),
        ("seat_freed", None), ("seat_handed_over", "clock"), ("seat_handed_over", "absent"), ("seat_handed_over", "returned"),
        ("default_action", "bot-late"), ("seat_handed_over", "bot-failed"),
    }  # fmt: skip


EVENTS: Final = (*forged_events.ALL, *forged_hosted.ALL)
FORGED: Final[Mapping[str, tuple[Callable[[], Lines], Callable[[File], Found]]]] = {
    **{f"{forgery.kind}: {forgery.name}": (forgery.lines, forgery) for forgery in EVENTS},
    **{forge.__name__: (lines, forge) for forge, lines in {**forged_files.ALL, **forged_hosted.FILES}.items()},
}
ONLY_IN_FORMAT_2: Final = {*OF_FORMAT_2, *forged_events.FORMAT_2}
FORGERIES: Final = [
    *(pytest.param(lines, forge, id=name) for name, (lines, forge) in FORGED.items()),
    *(
        pytest.param(OLD[lines], forge, id=f"{name} in format 1", marks=pytest.mark.unmeasured)
        for name, (lines, forge) in FORGED.items()
        if lines in OLD and forge not in ONLY_IN_FORMAT_2
    ),
]


@pytest.mark.parametrize(("lines", "forge"), FORGERIES)
def test_a_forgery_is_found_at_the_event_that_is_wrong(
    lines: Callable[[], Lines], forge: Callable[[File], Found]
) -> None:
    file = File(lines())
    expected = forge(file)
    assert fault_of(file.sealed()) == expected


@pytest.mark.parametrize("lines", OLD.values())
def test_a_file_of_the_last_release_with_format_1_has_none_of_the_new_fields(lines: Callable[[], Lines]) -> None:
    created = verify(lines(), GAMES).match.created
    assert (created.format_number, File(lines()).first["format"]) == (1, "moonstone-match/1")
    assert not {"format", "rated", "open_ms", "bot_fallback"} & File(lines()).data("match_created").keys()


def replaced(version: int, change: Callable[[bytes], bytes]) -> Callable[[Lines], Lines]:
    return lambda lines: (*lines[:version], change(lines[version]), *lines[version + 1 :])


@pytest.mark.parametrize(
    ("change", "version"),
    [
        (lambda lines: (*lines[:7], *lines[8:]), 7),
        (lambda lines: (*lines[:7], lines[8], lines[7], *lines[9:]), 7),
        (lambda lines: (lines[0], *lines[2:]), 1),
        (lambda lines: (*lines[:7], b"", *lines[7:]), 7),
        (lambda lines: (*lines, b""), 27),
        (lambda lines: (*lines, lines[-1]), 27),
        (lambda _: (), 0),
        (replaced(7, lambda line: line.replace(b'"salt":"', b'"salt":"0', 1)), 7),
        (replaced(7, lambda line: line.replace(b'"at":1', b'"at":2', 1)), 8),
        (replaced(7, lambda line: line.replace(b'"prev":"', b'"prev":"0', 1)), 7),
        (replaced(7, lambda line: line.replace(b",", b", ", 1)), 7),
        (replaced(3, lambda line: line.replace(b"anna", b"\\u0061nna", 1)), 3),
        (replaced(7, lambda line: line + b"\r"), 7),
        (replaced(7, lambda _: ENDLESS), 7),
        (replaced(7, lambda _: b"\xff"), 7),
        (replaced(0, lambda _: b""), 0),
        (replaced(0, lambda _: b"[" * 100_000), 0),
        (replaced(0, lambda _: b"\xff"), 0),
        (replaced(0, lambda line: line.replace(b",", b", ", 1)), 0),
    ],
)
def test_a_broken_chain_is_found_where_it_breaks(change: Callable[[Lines], Lines], version: int) -> None:
    assert fault_of(change(toy())) == (version, "chain")


@pytest.mark.parametrize(
    "data",
    [
        b'{"effects":[], "label":"trick"}',
        b'{"label":"trick","effects":[]}',
        b'{"effects":[],"label":"trick","label":"trick"}',
        b'{"effects":[],"label":"tr\\u0069ck"}',
        b'{"effects":1e999,"label":"trick"}',
        b'{"effects":1e2,"label":"trick"}',
        b'{"effects":-0,"label":"trick"}',
        b'{"effects":"\xff","label":"trick"}',
    ],
)
def test_data_that_is_not_canonical_is_found_even_if_the_chain_is_valid(data: bytes) -> None:
    at, lines = with_data_of_a_timer(data)
    assert fault_of(lines) == (at, "chain")


@pytest.mark.parametrize("number", [b"1.5", b"-0.5", b"9007199254740992", b"-9007199254740992", b"1e300"])
def test_a_number_that_some_readers_of_json_change_is_found(number: bytes) -> None:
    at, lines = with_data_of_a_timer(b'{"effects":[],"label":["trick",{"n":%s}]}' % number)
    with pytest.raises(Fault, match="an integer of at most 53 bits") as caught:
        verify(lines, GAMES)
    assert (caught.value.version, caught.value.check) == (at, "chain")


@pytest.mark.parametrize("label", [b'"3.5 or 1e9"', b'"9007199254740992"', b"9007199254740991", b"-9007199254740991"])
def test_other_numbers_and_numbers_in_texts_are_no_fault_of_the_chain(label: bytes) -> None:
    at, lines = with_data_of_a_timer(b'{"effects":[],"label":%s}' % label)
    assert fault_of(lines) == (at, "actions")


def with_data_of_a_timer(data: bytes) -> tuple[int, Lines]:
    """A match file whose chain is valid, with other data in its first timer; and the version of that timer."""
    lines, file = list(toy()), File(toy())
    at = file.find("timer")
    lines[at] = canonical({**file.events[at], "data": msgspec.Raw(data)})
    for version in range(at + 1, len(lines)):
        lines[version] = canonical({**file.events[version], "prev": digest(lines[version - 1])})
    return at, tuple(lines)


@given(st.data())
def test_a_change_of_any_byte_is_a_fault_or_changes_the_head(data: st.DataObject) -> None:
    """Only the head contains the hash of the last event, so only a client that kept the head notices a change."""
    lines = data.draw(st.sampled_from(EVERY))()
    content = b"\n".join(lines)
    index = data.draw(st.integers(0, len(content) - 1))
    changed = bytearray(content)
    changed[index] ^= data.draw(st.integers(1, 255))
    forged = tuple(bytes(changed).split(b"\n"))
    if index < len(content) - len(lines[-1]):
        fault_of(forged)
        return
    try:
        verdict = verify(forged, GAMES)
    except Fault:
        return
    assert verdict.match.head.hash != verify(lines, GAMES).match.head.hash


@given(st.binary(max_size=200) | st.lists(st.binary(max_size=40), max_size=4).map(b"\n".join))
def test_any_other_bytes_are_reported_as_a_fault(garbage: bytes) -> None:
    fault_of(tuple(garbage.split(b"\n")))


JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FREE: Final = {
    *("at", "salt", "reason", "ms", "private", "manual_start", "player", "by"),
    *("clock", "turn_seconds", "increment_seconds", "bot_pace_ms", "open_ms", "limit_ms", "owner"),
}
"""Values that may differ without breaking a rule: times within their bounds, names, reasons."""
FREED: Final = ("seat_freed", "seat")
"""The creator may free any seat that is taken."""


# In some files a few other values, such as an option that was never used, may differ too. So the short form tries the same
# changes each time.
@pytest.mark.long
@settings(derandomize=not LONG)
@given(st.data())
def test_a_change_of_any_value_is_a_fault_unless_the_value_is_free(data: st.DataObject) -> None:
    file = File(data.draw(st.sampled_from(EVERY))())
    event = file.events[data.draw(st.integers(1, len(file.events) - 1))]
    parent: Any = event
    name = data.draw(st.sampled_from(["data", "data", "data", "at", "by", "salt", "type"]))
    while isinstance(parent[name], dict) and parent[name] and data.draw(st.integers(0, 4)):
        parent = parent[name]
        name = data.draw(st.sampled_from(sorted(parent)))
    before, parent[name] = parent[name], data.draw(JSON)
    try:
        verify(file.sealed(), GAMES)
    except Fault:
        return
    assert parent[name] == before or name in FREE or (event["type"], name) == FREED


# --- older rules ------------------------------------------------------------------------------------------------------


def newer(game: AnyGame, **parts: Any) -> dict[str, AnyGame]:
    return {game.info.id: replace(game, info=replace(game.info, ruleset=2), **parts)}


def never(*_: Any) -> Any:
    raise AssertionError("an old match is not decided again")


@pytest.mark.parametrize("lines", EVERY)
def test_every_good_file_passes_under_older_rules_too(lines: Callable[[], Lines]) -> None:
    game = GAMES[File(lines()).first["game"]]
    assert verify(lines(), newer(game)).checks == ("chain", "effects")


@pytest.mark.unmeasured
@pytest.mark.parametrize("lines", GOOD)
def test_a_match_under_older_rules_is_folded_but_not_decided_again(lines: Callable[[], Lines]) -> None:
    game = GAMES[File(lines()).first["game"]]
    rules = dict.fromkeys(("decide", "setup", "score", "legal_actions"), never)
    if not game.info.simultaneous:  # the fold of a simultaneous game reads its decisions
        rules["decisions"] = never
    verdict = verify(lines(), newer(game, **rules, bots={}))
    assert verdict.checks == ("chain", "effects")
    assert verdict.match.outcome == verify(lines(), GAMES).match.outcome


OF_NOBODY: Final = {"of a player who left", "of a seat below zero by itself"}


@pytest.mark.parametrize(
    ("forge", "passes"),
    [
        (forged_files.another_client_seed, True),
        (forged_files.no_score, False),
        (forged_files.an_event_after_the_seed, False),
        (forged_files.a_move_while_suspended, False),
        *((forgery, False) for forgery in forged_events.ACTIONS if forgery.name in OF_NOBODY),
        *((forgery, True) for forgery in forged_events.OUTCOMES[:2]),
        *((forgery, False) for forgery in forged_events.SEATS if forgery.lines is toy and forgery is not UNKNOWN_BOT),
        *((forgery, forgery.name == "an option left out") for forgery in forged_events.FORMS if forgery.lines is toy),
    ],
)
def test_a_match_under_older_rules_is_still_checked_for_chain_order_and_types(
    forge: Callable[[File], Found], passes: bool
) -> None:
    file = File(toy())
    expected = forge(file)
    try:
        verify(file.sealed(), newer(TOY))
    except Fault as fault:
        assert not passes
        assert fault.version == expected[0]  # noqa: PT017
    else:
        assert passes


def a_request_to_abort_by_a_bot(file: File) -> Found:
    """The bot of the seat that was replaced asks to abort the match."""
    at = file.find("seat_handed_over", reason="absent")
    seat = file.events[at]["data"]["seat"]
    file.insert(at + 1, "abort_asked", {"seat": seat}, by=f"seat:{seat}")
    return at + 1, "actions"


@pytest.mark.parametrize(
    "forge",
    [
        forged_format_2.an_abort_left_out,
        forged_format_2.an_abort_that_one_did_not_ask_for,
        forged_format_2.a_seat_taken_back_by_a_stranger,
        forged_format_2.an_absent_seat_replaced_by_itself,
        forged_format_2.an_absent_seat_replaced_by_the_service,
        forged_format_2.a_rated_match_that_its_people_agree_to_abort,
        forged_format_2.a_seat_of_a_rated_match_that_is_taken_back,
        forged_format_2.a_bot_in_a_rated_match,
        a_request_to_abort_by_a_bot,
    ],
)
def test_seats_and_agreements_of_format_2_are_checked_under_older_rules_too(forge: Callable[[File], Found]) -> None:
    file = File(forged_files.ALL.get(forge, agreed)())
    version, _ = forge(file)
    with pytest.raises(Fault) as caught:
        verify(file.sealed(), newer(GAMES[file.first["game"]]))
    assert caught.value.version == version


def test_a_second_request_to_abort_counts_under_older_rules_once_all_others_have_left() -> None:
    file = File(forged_files.ALL[forged_format_2.an_abort_left_out]())
    last_request = file.events[file.find("match_aborted") - 1]
    last_request.update(type="resigned", data={"seat": last_request["data"]["seat"]})
    verdict = verify(file.sealed(), newer(GAMES[file.first["game"]]))
    assert verdict.match.status == "aborted"


def test_an_exception_of_the_rules_is_a_fault_of_the_file() -> None:
    with pytest.raises(Fault) as caught:
        verify(toy(), {"toy": replace(TOY, decide=never)})
    assert (caught.value.version, caught.value.check) == (6, "actions")
