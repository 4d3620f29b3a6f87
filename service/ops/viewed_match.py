"""A match file for people who look at it: the match after each version, up to the first fault of the file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from events.record import Event, Version, decode
from service.audit.match_file import split
from service.audit.public_audit import Audit, results
from service.audit.verify import Check, Fault, verify
from service.errors import Corrupt, Refused
from service.games.drawing.changes import mark_changes
from service.games.drawing.page import Picture
from service.games.protocol import AnyGame
from service.games.visibility import Viewer
from service.match import texts
from service.match.fold import begin, step
from service.match.model import Match
from service.views import pictures
from service.views.match_views import MatchSummary, summary_without_names
from service.views.picture_table import Table, TableWriter
from service.views.replay import Moment, moment

View: TypeAlias = tuple[str, Viewer]
"""A language and a viewer."""


class Step(NamedTuple):
    """An event, and the match right after it."""

    event: Event
    match: Match


class Viewed(NamedTuple):
    """A match file that was checked: each version before its first fault. `fault` is None if there is none."""

    steps: Sequence[Step]
    audit: Audit
    fault: Fault | None

    @property
    def match(self) -> Match:
        """The match at the last version."""
        return self.steps[-1].match

    def moments(self, viewer: Viewer, language: str) -> Iterator[Moment]:
        """A line for each version."""
        return (moment(match, event, viewer, language) for event, match in self.steps)


class Replay(msgspec.Struct, frozen=True):
    """All that a page shows of a match.

    Timelines and pictures have names such as `en-s` and `de-0`: a language, and a seat or `s` for a spectator. The n-th entry
    is that of version n + 1. Each picture marks what its event changed.
    """

    match: MatchSummary
    title: str
    audit: Audit
    timelines: Mapping[str, Sequence[Moment]]
    table: Table


def read(lines: Sequence[bytes], games: Mapping[str, AnyGame]) -> Viewed:
    """Check a match file, and fold it up to its first fault. What comes later proves nothing, so it is left out.

    Raises:
        Fault: nothing is left, because the fault is in the first event or in the file's first line.
    """
    passed: Sequence[Check] = ()
    fault: Fault | None = None
    try:
        passed = verify(lines, games).checks
    except Fault as found:
        if found.version <= 1:
            raise
        fault = found
    steps = _steps(lines, games, len(lines) if fault is None else fault.version - 1)
    match = steps[-1].match
    return Viewed(steps, Audit(match.id, match.head.version, match.head.hash, results(passed, fault)), fault)


def _steps(lines: Sequence[bytes], games: Mapping[str, AnyGame], last: Version) -> Sequence[Step]:
    """The versions of a match file up to the last one that is wanted.

    Before a break of the chain there may be events that nobody could decide again, since the seed is unknown. They end where
    they cannot be folded.

    Raises:
        Fault: the first event cannot be folded.
    """
    first, stored = split(lines)
    steps: list[Step] = []
    try:
        match = begin(first.match, stored[0], games)
        steps.append(Step(decode(stored[0]), match))
        for entry in stored[1:last]:
            match = step(match, entry)
            steps.append(Step(decode(entry), match))
    except (Corrupt, Refused) as error:
        if not steps:
            raise Fault(1, "effects", str(error)) from None
    return steps


def views(viewed: Viewed) -> Sequence[View]:
    """The views of a page: a spectator and every seat, in each language."""
    viewers: tuple[Viewer, ...] = (None, *range(len(viewed.match.seats)))
    return [(language, viewer) for language in texts.LANGUAGES for viewer in viewers]


def replay(viewed: Viewed, wanted: Iterable[View]) -> Replay:
    """Draw and describe every version in each of these views."""
    timelines: dict[str, Sequence[Moment]] = {}
    writer = TableWriter()
    for language, viewer in wanted:
        name = f"{language}-{'s' if viewer is None else viewer}"
        timelines[name] = tuple(viewed.moments(viewer, language))
        for picture in _marked(viewed.steps, viewer, language):
            writer.add(name, picture)
    title = viewed.match.game.info.title
    return Replay(summary_without_names(viewed.match), title, viewed.audit, timelines, writer.table())


def _marked(steps: Sequence[Step], viewer: Viewer, language: str) -> Iterator[Picture]:
    """The picture of each version; from the second picture of the table on, it marks what changed."""
    before: Picture | None = None
    for _, match in steps:
        picture = pictures.draw(match, viewer, language)
        yield picture if before is None else mark_changes(before, picture)
        before = picture if match.state is not None else None
