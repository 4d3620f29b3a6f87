"""Bots that the arena calls at their URLs, over real sockets."""

import gc
import json
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from click.testing import CliRunner, Result
from standardwebhooks import Webhook

from service.adapters.clock import wall_clock
from service.arena.called import Called, CalledSeat
from service.arena.deals import CalledAt
from service.arena.hosted import MAX_DETAIL, CannotStart
from service.arena.play import Failed, FailureKind, Moved
from service.arena.record import Record
from service.games.protocol import AnyGame
from service.games.registry import GAMES
from service.match.task import Task
from service.ops.cli import main
from service.repository.signing import new_secret, secret_of
from tests.service import called_bots as bots
from tests.service.called_bots import SECRET, Answer, Honest, serving

APE: Final = GAMES["ape_town"]
LIMIT_MS: Final = 1_000
SEED: Final = bytes(range(32))


@contextmanager
def called(bot: Honest, game: AnyGame = APE) -> Iterator[Called]:
    with serving(bot) as url:
        player = Called(game, url, CalledAt(url, secret_of(SECRET) or b""), LIMIT_MS / 1000)
        try:
            yield player
        finally:
            player.close()


def first_seat(player: Called, game: AnyGame = APE) -> CalledSeat:
    record = Record(game, {}, SEED, ["a", "b"], 0)
    return player.seated(record, record.first_task(0, LIMIT_MS).seat)


def ask(seat: CalledSeat) -> Any:
    task: Any = None  # it is made from the record
    return seat.answer(task, bytes)


class Says(Honest):
    """Gives the same answer to every task."""

    def __init__(self, status: int, body: bytes = b"") -> None:
        super().__init__()
        self._answer = status, body

    def play(self, _: bots.Task) -> Answer:
        return self._answer


@pytest.mark.parametrize(
    ("bot", "kind", "detail", "calls"),
    [
        (Says(404), "nonsense", "it answered with status 404", 1),
        (Says(302), "nonsense", "it answered with status 302", 1),
        (Says(503), "crash", "it answered with status 503", 2),
        (Says(*bots.HANG_UP), "crash", "no connection, or it broke before the answer was complete", 2),
        (Says(204), "nonsense", "it answered 204, to act over the API, but the arena has no API", 1),
        (Says(200, b"pass"), "nonsense", 'its answer is not {"action": {…}} in strict JSON', 1),
        (Says(200, b'{"action":{"type":"win"}}'), "nonsense", "no action of this game: ", 1),
        (
            Says(200, b'{"action":{"type":"' + b"A" * 9_000 + rb'\u001b[2J\u009b"}}'),
            "nonsense",
            "no action of this game: ",
            1,
        ),
        (Says(200, b"x" * 20_000), "nonsense", "its answer has more than 16384 bytes", 1),
        (bots.Hangs(), "timeout", "no answer within 1000 ms", 1),
        (bots.OtherSecret(), "nonsense", "it answered with status 401, as if it had another secret", 0),
    ],
)
def test_a_failure_is_counted_as_that_of_other_bots(bot: Honest, kind: FailureKind, detail: str, calls: int) -> None:
    with called(bot) as player:
        with pytest.raises(Failed) as failed:
            ask(first_seat(player))
        assert (failed.value.kind, failed.value.detail[: len(detail)], len(bot.seen)) == (kind, detail, calls)
        assert len(failed.value.detail) <= MAX_DETAIL
        assert failed.value.detail.isprintable()
        assert len(set(bot.seen)) <= 1
        if not isinstance(bot, bots.Hangs):
            with pytest.raises(
                CannotStart, match=r"does not play: .*[^.]\. `moonstone bot check` says more about it\.$"
            ):
                player.start()


def test_in_a_timed_game_204_means_to_wait() -> None:
    game = GAMES["four_monkeys"]
    with called(Says(204), game) as player:
        player.start()
        assert ask(first_seat(player, game)) is None


def test_a_call_has_the_task_of_the_service_with_the_real_time_that_is_left() -> None:
    tasks: list[bots.Task] = []

    class Keeps(Honest):
        def play(self, task: bots.Task) -> Answer:
            tasks.append(task)
            return super().play(task)

    record = Record(APE, {}, SEED, ["a", "b"], 0)
    with called(Keeps()) as player:
        began = wall_clock()
        for at in range(5):
            seat = record.first_task(0, LIMIT_MS).seat
            record.add(Moved(at, seat, ask(player.seated(record, seat))))
        ended = wall_clock()
    for task in tasks:
        assert msgspec.convert(task, Task, strict=False).task == task["task"]
        assert began + LIMIT_MS <= task["decision"]["deadline"] <= ended + LIMIT_MS
        assert began <= task["decision"]["opens_at"] <= ended
        assert len(task["action_texts"]) == len(task["legal_actions"])
    assert [task["version"] for task in tasks] == [4, 5, 6, 7, 8]


def test_a_job_that_is_stopped_during_a_call_ends_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    def stop(*_: object) -> None:
        raise SystemExit

    before = signal.signal(signal.SIGALRM, stop)
    try:
        with called(bots.Hangs()) as player:
            seat = first_seat(player)
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            with pytest.raises(SystemExit):
                ask(seat)
    finally:
        signal.signal(signal.SIGALRM, before)
    gc.collect()
    assert not caplog.records


def test_called_bots_play_in_a_contest_and_their_matches_are_verified(tmp_path: Path) -> None:
    secret, folder, file = tmp_path / "secret", tmp_path / "files", tmp_path / "result"
    secret.write_text(SECRET)
    tasks: dict[str, bots.Task] = {}

    class Keeps(Honest):
        def play(self, task: bots.Task) -> Answer:
            tasks[task["task"]] = task
            return super().play(task)

    with serving(Keeps()) as url, serving(bots.OneStep()) as failing:
        words = ["ape_town", "--bots", f"{url},{failing},random", "--matches", "3", "--seed", "07" * 32]
        files = ["--export", str(folder), "--json", str(file), "--secret-file", str(secret)]
        done = CliRunner().invoke(main, ["arena", *words, *files, "--limit-ms", "10000"])
        slow = CliRunner().invoke(main, ["arena", *words, *files[4:], "--limit-ms", "10001"])
    assert done.exit_code == 0, done.output
    result = json.loads(file.read_bytes())
    failures = {bot["bot"]: bot["failures"] for bot in result["bots"]}
    assert failures == {url: {}, failing: {"crash": 3}, "random": {}}
    assert CliRunner().invoke(main, ["verify", str(folder)]).exit_code == 0
    heads: dict[tuple[str, int], str] = {}
    for match in folder.glob("*.ndjson"):
        head, *events = [json.loads(line) for line in match.read_bytes().splitlines()]
        heads |= {(head["match"], number): one["prev"] for number, one in enumerate(events)}
    known = [heads.get((task["match"], task["version"])) == task["head"] for task in tasks.values()]
    assert known == [False] + [True] * (len(known) - 1), "only the first call is none of a match of the contest"
    assert len(known) > 10
    for path in (folder, file):
        assert SECRET not in "".join(one.read_text() for one in ([path] if path.is_file() else path.iterdir()))
    assert (slow.exit_code, "a bot that is called has at most 10000 ms" in slow.stderr) == (2, True)


def test_each_url_has_its_own_secret_and_a_key_in_its_query_is_shown_nowhere(tmp_path: Path) -> None:
    other = new_secret()
    common, own, result, plot, journal = (tmp_path / name for name in ("common", "own", "json", "plot.svg", "journal"))
    common.write_text(SECRET)
    own.write_text(other)

    class Other(Honest):
        def verify(self, headers: Mapping[str, str], body: bytes) -> None:
            Webhook(other).verify(body, dict(headers))

    def arena(*words: str) -> Result:
        return CliRunner().invoke(main, ["arena", "ape_town", "--matches", "2", *words])

    with serving(Honest()) as first, serving(Other()) as second:
        keyed = [f"{second}?key=hidden", f"{second}?key=concealed"]
        secrets = ["--secret-file", str(common), *(word for url in keyed for word in ("--secret-file", f"{url}={own}"))]
        files = [
            "--json",
            str(result),
            "--plot",
            str(plot),
            "--resume",
            str(journal),
            "--export",
            str(tmp_path / "files"),
        ]
        done = arena("--bots", ",".join([first, *keyed]), *secrets, *files)
        wrong = arena("--bots", f"{first},{keyed[0]}", *secrets[:2])
    assert done.exit_code == 0, done.output
    assert {bot["bot"]: bot["failures"] for bot in json.loads(result.read_bytes())["bots"]} == {
        first: {},
        f"{second}?…": {},
        f"{second}?…2": {},
    }
    assert (
        wrong.exit_code,
        f"{second}?… does not play: it answered with status 401, as if it had another secret. `" in wrong.stderr,
    ) == (1, True)
    written = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    for text in (done.output, wrong.output, *written):
        assert "hidden" not in text
        assert "concealed" not in text


def test_a_secret_file_for_no_bot_and_two_for_all_are_refused() -> None:
    url = "http://127.0.0.1:1024/"
    for words, sentence in (
        ([f"{url}?key=hidden=file"], f"{url}?… begins with the URL of no bot. Write URL=FILE"),
        (["one", "two"], "give one FILE for all bots"),
    ):
        files = [word for file in words for word in ("--secret-file", file)]
        done = CliRunner().invoke(main, ["arena", "ape_town", "--matches", "2", "--bots", f"{url},random", *files])
        assert (done.exit_code, sentence in done.stderr, "hidden" in done.stderr) == (2, True, False), done.stderr
