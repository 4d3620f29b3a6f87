"""A client's copy reveals a rewritten file, although every other check passes."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
import pytest

from events.record import canonical, decode, digest
from service.audit.client_copy import Differs, Feed, KeptEvent, KeptHead, check_feed, check_heads, read_feed
from service.audit.match_file import export
from service.audit.verify import CHECKS, verify
from service.games.visibility import Viewer
from service.match.model import Match
from service.match.redaction import see_event
from service.ops.simulate import play
from tests.service.audit.match_files import File, Lines, toy
from tests.service.games.toy.game import TOY

VIEWERS: Final = (None, 0, 1, 2)
Shown = dict[str, Any]


def match_of(lines: Lines) -> Match:
    return verify(lines, {"toy": TOY}).match


def heads_of(lines: Lines) -> list[KeptHead]:
    return [KeptHead(version, digest(line)) for version, line in enumerate(lines)]


def shown_to(viewer: Viewer, lines: Lines) -> list[Shown]:
    """All events as a viewer saw them."""
    match = match_of(lines)
    return [msgspec.json.decode(canonical(see_event(match, decode(line), digest(line), viewer))) for line in lines[1:]]


def ndjson(*frames: object) -> bytes:
    return b"".join(msgspec.json.encode(frame) + b"\n" for frame in frames)


def page(events: Sequence[Shown]) -> Shown:
    return {"events": events, "version": events[-1]["version"], "head": events[-1]["hash"], "next": None}


def difference(check: Callable[..., None], *args: object) -> tuple[int, str]:
    with pytest.raises(Differs) as caught:
        check(*args)
    assert str(caught.value) == f"version {caught.value.version}: {caught.value.text}"
    return caught.value.version, caught.value.kept


def resealed_from(version: int) -> Lines:
    """The toy's file with another salt at one version, and a rebuilt hash chain, so that every check passes."""
    file = File(toy())
    file.events[version]["salt"] = "0" * 32
    return file.sealed()


def test_a_match_rewritten_with_a_new_seed_is_found_only_by_a_client_s_copy() -> None:
    original, rewritten = [
        tuple(line[:-1] for line in export(*play(TOY, ["high", "random"], {}, bytes([seed]) * 32))) for seed in (1, 2)
    ]
    assert original[0] == rewritten[0]
    assert verify(rewritten, {"toy": TOY}).checks == CHECKS
    match = match_of(rewritten)
    for head in heads_of(original)[1:]:
        assert difference(check_heads, rewritten, [head]) == (head.version, "head")
    for viewer in (None, 0, 1):
        feed = read_feed(ndjson(*shown_to(viewer, original)))
        check_feed(original, match_of(original), viewer, feed)
        assert difference(check_feed, rewritten, match, viewer, feed) == (1, "feed")


@pytest.mark.parametrize("version", [2, 9, len(toy()) - 1])
def test_copies_from_before_the_rewritten_part_agree_and_later_ones_do_not(version: int) -> None:
    forged = resealed_from(version)
    match, known = match_of(forged), shown_to(0, toy())
    check_heads(forged, heads_of(toy())[:version])
    check_feed(forged, match, 0, read_feed(ndjson(*known[: version - 1])))
    assert difference(check_heads, forged, heads_of(toy())[version:]) == (version, "head")
    assert difference(check_feed, forged, match, 0, read_feed(ndjson(*known))) == (version, "feed")


def test_the_start_of_a_hash_is_enough() -> None:
    check_heads(toy(), [KeptHead(head.version, head.head[:16]) for head in heads_of(toy())])
    assert difference(check_heads, toy(), [KeptHead(5, "0" * 16)]) == (5, "head")


def test_a_head_beyond_the_end_shows_that_the_end_is_missing() -> None:
    assert difference(check_heads, toy(), [KeptHead(len(toy()), "0" * 16)]) == (len(toy()), "head")


@pytest.mark.parametrize("viewer", VIEWERS)
def test_every_viewers_feed_agrees_with_the_file_and_with_no_other_viewers(viewer: Viewer) -> None:
    match, feed = match_of(toy()), read_feed(ndjson(*shown_to(viewer, toy())))
    check_feed(toy(), match, viewer, feed)
    for other in VIEWERS:
        if other != viewer:
            assert difference(check_feed, toy(), match, other, feed) == (5, "feed")


# --- what differs -----------------------------------------------------------------------------------------------------


def set_field(name: str, value: object) -> Callable[[Shown], object]:
    return lambda event: event.update({name: value})


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            lambda event: event["data"]["effects"].pop(),
            "seat 1 sees other values (data); is this the feed of another seat?",
        ),
        (set_field("at", 5), "seat 1 sees other values (at); is this the feed of another seat?"),
        (set_field("by", "worker"), "seat 1 sees other values (by); is this the feed of another seat?"),
        (set_field("redacted", False), "seat 1 sees other values (redacted); is this the feed of another seat?"),
        (set_field("salt", "0" * 32), "seat 1 sees other values (salt)"),
        (lambda event: event.pop("redacted"), "seat 1 sees other values (redacted)"),
        (set_field("hash", "0" * 64), "its hash is "),
        (set_field("match", "another"), "the feed is of the match another"),
        (set_field("version", 99), f"the file ends at version {len(toy()) - 1}"),
    ],
)
def test_one_field_that_differs_is_found(change: Callable[[Shown], object], text: str) -> None:
    events = shown_to(1, toy())
    event = next(event for event in events if event["type"] == "action" and "redacted" in event)
    change(event)
    with pytest.raises(Differs) as caught:
        check_feed(toy(), match_of(toy()), 1, read_feed(ndjson(*events)))
    assert caught.value.text.startswith(text)
    assert caught.value.version == event["version"]


@pytest.mark.parametrize("frame", ["page", "hello", "end"])
def test_the_head_of_a_page_or_frame_is_compared_too(frame: str) -> None:
    match, events = match_of(toy()), shown_to(None, toy())
    frames = {
        "page": {**page(events), "events": []},
        "hello": {"match": match.id, "version": len(events), "head": events[-1]["hash"], "status": "finished"},
        "end": {"type": "end", "reason": "finished", "version": len(events), "head": events[-1]["hash"]},
    }
    feed = read_feed(ndjson(frames[frame]))
    check_feed(toy(), match, None, feed)
    assert difference(check_feed, resealed_from(4), match, None, feed) == (len(events), "feed")


# --- what a feed looks like -------------------------------------------------------------------------------------------


def stream(events: Sequence[Shown]) -> bytes:
    frames = [f"event: {event['type']}\nid: {event['version']}\ndata: ".encode() + ndjson(event) for event in events]
    return b"retry: 1000\n" + b":\n\n".join((*frames, b""))


def test_a_feed_is_read_in_every_form_that_the_api_sends() -> None:
    events = shown_to(1, toy())
    lines, pages = ndjson(*events), [page(events[:9]), page(events[9:])]
    expected = read_feed(lines)
    assert [event.shown for event in expected.events] == events
    assert expected.heads == ()
    assert read_feed(lines.replace(b"\n", b"\r\n\r\n")) == expected
    assert read_feed(stream(events)) == expected
    assert read_feed(lines + lines[:40]) == expected, "a last line that was cut off is ignored"
    beside = {"text": "in words", "decisions": [], "banks": [9], "legal_actions": [{}], "action_texts": ["a"]}
    assert read_feed(ndjson(*({**event, **beside} for event in events))) == expected
    known = Feed((KeptHead(9, events[8]["hash"]), KeptHead(len(events), events[-1]["hash"])), expected.events)
    assert read_feed(ndjson(*pages)) == known
    assert read_feed(msgspec.json.format(ndjson(pages[0]).strip(), indent=2)).events == expected.events[:9]
    assert read_feed(ndjson(events[0])).events == (KeptEvent(1, events[0]["hash"], events[0]["match"], events[0]),)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n\n",
        b":\n\n",
        b"{}",
        b"[]",
        b"7\n8\n",
        b"{",
        b"{\n{}\n",
        b"\xff\n{}\n",
        b"[" * 100_000,
        ndjson({"version": 1}),
        ndjson({"version": 1, "head": ""}),
        ndjson({"version": 1, "head": "F" * 64}),
        ndjson({"version": 1.5, "head": "0" * 64}),
        ndjson({"version": -1, "head": "0" * 64}),
        ndjson({"version": 1, "hash": "0" * 64}),
        ndjson({"version": 1, "hash": 5, "match": "m"}),
        ndjson({"version": 1, "head": "0" * 64, "events": 5}),
        ndjson({"version": 1, "head": "0" * 64, "events": [5]}),
        ndjson({"version": 1, "head": "0" * 64, "events": [{}]}),
        b"".join(line + b"\n" for line in toy()),
    ],
)
def test_text_that_is_not_a_feed_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"not JSON|not an event|no event"):
        read_feed(text)
