import hashlib
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.chain import BrokenChain, Draft, follow, genesis, seal
from events.record import Event, Head, canonical, digest

SALT = "0123456789abcdef" * 2
LINE, START = genesis("m", "toy", 1)
DRAFT = Draft("action", "seat:0", b'{"seat":0}')


def test_genesis_is_the_first_line_of_a_match_file_and_its_hash_is_the_first_head() -> None:
    assert LINE == b'{"format":"moonstone-match/2","game":"toy","match":"m","ruleset":1}'
    assert (START.version, START.hash) == (0, hashlib.sha256(LINE).hexdigest())


drafts = st.lists(
    st.builds(
        Draft,
        type=st.sampled_from(["action", "timer"]),
        by=st.sampled_from(["worker", "seat:1"]),
        data=st.dictionaries(st.sampled_from(["a", "b"]), st.integers(0, 9) | st.text(max_size=3)).map(canonical),
    ),
    max_size=5,
)


@given(drafts, drafts)
def test_sealed_events_can_be_followed_in_order(first: list[Draft], second: list[Draft]) -> None:
    one, middle = seal(START, first, 10, [SALT] * len(first))
    two, end = seal(middle, second, 20, [SALT] * len(second))
    head = START
    previous = LINE
    for version, (stored, draft) in enumerate(zip(one + two, first + second, strict=True), 1):
        event, head = follow(head, stored)
        at = 10 if version <= len(first) else 20
        expected = Event(
            version=version,
            type=draft.type,
            at=at,
            by=draft.by,
            data=msgspec.Raw(draft.data),
            prev=hashlib.sha256(previous).hexdigest(),
            salt=SALT,
        )
        assert event == expected
        assert stored == json.dumps(
            json.loads(stored), sort_keys=True, separators=(",", ":"), ensure_ascii=False
        ).encode("utf-8")
        previous = stored
    assert head == end


def test_every_draft_needs_a_salt() -> None:
    with pytest.raises(ValueError, match="shorter"):
        seal(START, [DRAFT, DRAFT], 0, [SALT])


(STORED, NEXT), END = seal(START, [DRAFT, DRAFT], 10, [SALT, SALT])
OTHER_MATCH = seal(genesis("n", "toy", 1)[1], [DRAFT], 10, [SALT])[0][0]


@pytest.mark.parametrize(
    ("head", "stored", "fault"),
    [
        pytest.param(START, NEXT, "version 1: says that it is version 2", id="a gap"),
        pytest.param(Head(7, START.hash), STORED, "version 8: says that it is version 1", id="another version"),
        pytest.param(END, NEXT, "version 3: says that it is version 2", id="the same event again"),
        pytest.param(START, OTHER_MATCH, "version 1: names", id="another match"),
        pytest.param(Head(1, digest(b"x")), NEXT, "version 2: names", id="another previous event"),
        pytest.param(START, b"", "version 1: no event", id="no bytes"),
        pytest.param(START, b"\xff\xfe", "version 1: no event", id="invalid UTF-8"),
        pytest.param(
            START, STORED.replace(b"seat:0", b"seat:\xff"), "version 1: no event", id="invalid UTF-8 in a string"
        ),
        pytest.param(START, STORED[:-1], "version 1: no event", id="a truncated event"),
        pytest.param(START, STORED.replace(b'"at":10', b'"at": 10'), "version 1: is not in canonical", id="a space"),
        pytest.param(
            START, STORED.replace(b'"at":10', b'"at":9,"at":10'), "version 1: is not in canonical", id="a field twice"
        ),
        pytest.param(START, STORED + b"\n", "version 1: is not in canonical", id="a line end"),
    ],
)
def test_an_event_that_does_not_follow_the_head_is_rejected_with_its_version(
    head: Head, stored: bytes, fault: str
) -> None:
    with pytest.raises(BrokenChain, match=fault) as refused:
        follow(head, stored)
    assert refused.value.version == head.version + 1


@given(st.integers(0, len(STORED) - 1), st.integers(1, 255))
def test_one_changed_byte_is_found_at_the_next_event_at_the_latest(index: int, flip: int) -> None:
    changed = STORED[:index] + bytes([STORED[index] ^ flip]) + STORED[index + 1 :]
    with pytest.raises(BrokenChain):
        follow(follow(START, changed)[1], NEXT)
