"""A bot that is called at a URL for each decision, with the task and the signature that the service would send."""

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, Union

import msgspec

from service.adapters.clock import wall_clock
from service.arena.deals import CalledAt
from service.arena.hosted import CannotStart, one_line
from service.arena.play import Failed, FailureKind
from service.arena.record import Record
from service.games.protocol import AnyGame, Task
from service.games.visibility import Seat
from service.match.task import Task as HostedTask
from service.repository.bot_answers import MAX_ANSWER_BYTES, MAX_SENDS, NO_ANSWER, action_of, may_pass
from service.repository.outgoing import Answered, Failure, Full, Sent
from service.repository.signing import signed

_KINDS: Final[Mapping[Failure, FailureKind]] = {
    "address-forbidden": "crash",
    "unreachable": "crash",
    "tls": "crash",
    "timeout": "timeout",
    "too-large": "nonsense",
    "malformed": "nonsense",
}


class Called:
    """A bot at a URL: https, or http on this machine. Its event loop runs only during a call.

    name: what is shown of it; the URL itself may have a key.
    """

    version = ""
    """It may change at any time; its URL says nothing about it."""

    def __init__(self, game: AnyGame, name: str, at: CalledAt, limit_s: float) -> None:
        from service.adapters.outgoing import Client  # noqa: PLC0415  (loads aiohttp, which other contests do not need)

        self.game = game
        self._name = name
        self._at = at
        self._limit_s = limit_s
        self._action: Any = Union[game.info.actions]  # noqa: UP007  (built at run time)

        async def opened() -> Client:
            return await Client(loopback=True).__aenter__()

        self._runner = asyncio.Runner()
        self._client = self._runner.run(opened())

    def seated(self, record: Record, seat: Seat) -> "CalledSeat":
        """The player of a seat in the match of a record."""
        return CalledSeat(self, record, seat, round(1000 * self._limit_s))

    def start(self) -> None:
        """Call the bot once, for a decision that does not count.

        Raises:
            CannotStart: it gave no usable answer.
        """
        seed = hashlib.sha256(self.game.info.id.encode()).digest()
        record = Record(self.game, {}, seed, [self._name] * self.game.info.seats[0], 0)
        try:
            self.action(record.first_task(wall_clock(), round(1000 * self._limit_s)))
        except Failed as failed:
            raise CannotStart(
                f"{self._name} does not play: {failed.detail.rstrip('.')}. `moonstone bot check` says more about it."
            ) from None

    def action(self, task: HostedTask) -> Any:
        """The action of the bot for a task; None if it declines.

        Raises:
            Failed: its answer is not usable.
        """
        result = self._runner.run(self._call(task.task, msgspec.json.encode(task)))
        if not isinstance(result, Answered):
            too_long = f"no answer within {1000 * self._limit_s:g} ms"
            raise Failed(_KINDS[result.code], too_long if result.code == "timeout" else NO_ANSWER[result.code])
        if result.status == 204:
            if task.decision.on_timeout is not None:
                raise Failed("nonsense", "it answered 204, to act over the API, but the arena has no API")
            return None
        if result.status in {401, 403}:
            raise Failed("nonsense", f"it answered with status {result.status}, as if it had another secret")
        if result.status != 200:
            raise Failed("crash" if result.status >= 500 else "nonsense", f"it answered with status {result.status}")
        action = action_of(result.body)
        if action is None:
            raise Failed("nonsense", 'its answer is not {"action": {…}} in strict JSON')
        try:
            return msgspec.convert(action, self._action)
        except msgspec.ValidationError as error:
            raise Failed("nonsense", one_line(f"no action of this game: {error}")) from None

    async def _call(self, task_id: str, body: bytes) -> Sent:
        """Send a call, a second time if the first failed in a way that may pass."""
        until = time.monotonic() + self._limit_s
        sends = 0
        while True:
            headers = signed([self._at.secret], task_id, wall_clock() // 1000, body)
            result = await self._client.post(
                self._at.url,
                body,
                headers,
                timeout_s=max(0.0, until - time.monotonic()),
                max_bytes=MAX_ANSWER_BYTES,
                max_sends=MAX_SENDS - sends,
            )
            if isinstance(result, Full):
                raise RuntimeError("one call at a time cannot fill the limit of an address")  # noqa: TRY004  (no type is wrong)
            sends += result.sends
            if sends >= MAX_SENDS or not may_pass(result):
                return result

    def close(self) -> None:
        """Cancel a call that a signal interrupted, and close the connections."""
        self._runner.run(self._close())
        self._runner.close()

    async def _close(self) -> None:
        calls = asyncio.all_tasks() - {asyncio.current_task()}
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await self._client.__aexit__(None, None, None)


class CalledSeat:
    """The player of one seat of one match, as `service.arena.play.Player`: a bot that is called."""

    def __init__(self, bot: Called, record: Record, seat: Seat, limit_ms: int) -> None:
        self._bot = bot
        self._record = record
        self._seat = seat
        self._limit_ms = limit_ms

    def begin(self) -> None:
        """It is always ready."""

    def answer(self, _task: Task[Any, Any], _key: Callable[[], bytes]) -> Any:
        return self._bot.action(self._record.task(self._seat, wall_clock(), self._limit_ms))
