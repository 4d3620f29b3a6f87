"""The bot that is checked: sends it calls as the service does, or wrong ones, and says what is wrong with its answers."""

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from service.adapters.clock import wall_clock
from service.arena.play import id_of_match
from service.errors import Refused
from service.match.characters import printable
from service.match.task import Task
from service.ops.bot_check.recorded import Recorded
from service.repository.bot_answers import MAX_ANSWER_BYTES, NO_ANSWER, action_of
from service.repository.outgoing import Answered, Failed, Full, Outgoing, Sent
from service.repository.signing import signed

DECLINED: Final = 204
_MAX_SHOWN: Final = 100
"""How much of a wrong answer is shown, in bytes."""


class CalledBot:
    """A bot at a URL. `limit_ms` is how long it may take for an answer; `times_ms` are those of all answers to tasks so far."""

    def __init__(self, client: Outgoing, url: str, secret: bytes, limit_ms: int) -> None:
        self._client = client
        self._url = url
        self.secret = secret
        self.limit_ms = limit_ms
        self.times_ms: list[int] = []
        self._seed = secrets.token_bytes(32)
        self._matches = 0

    def task(self, recorded: Recorded) -> Task:
        """The task of a decision now, in a match that the bot does not know: it has another id each time."""
        self._matches += 1
        return recorded.task(wall_clock(), id_of_match(self._seed, self._matches))

    def body(self, recorded: Recorded) -> tuple[str, bytes]:
        """The id of a new task, and the body of its call."""
        task = self.task(recorded)
        return task.task, msgspec.json.encode(task)

    async def play(self, recorded: Recorded) -> Sent:
        """Call the bot for a decision, as the service does."""
        return await self.send(*self.body(recorded))

    async def send(self, task_id: str, body: bytes) -> Sent:
        """Send a task and note the time of its answer."""
        result = await self.post(body, self.signed(task_id, body))
        self.times_ms.append(result.ms)
        return result

    def signed(self, task_id: str, body: bytes, *, age_s: int = 0, keys: Sequence[bytes] = ()) -> Mapping[str, str]:
        """The headers of a call: sent `age_s` seconds ago, with a signature by each of the `keys`; by default the right one."""
        return signed(keys or (self.secret,), task_id, wall_clock() // 1000 - age_s, body)

    async def post(self, body: bytes, headers: Mapping[str, str], timeout_s: float | None = None) -> Sent:
        result = await self._client.post(
            self._url,
            body,
            headers,
            timeout_s=self.limit_ms / 1000 if timeout_s is None else timeout_s,
            max_bytes=MAX_ANSWER_BYTES,
        )
        if isinstance(result, Full):
            raise RuntimeError("the few calls of a check cannot fill the limit of an address")  # noqa: TRY004  (no type is wrong)
        return result


def new_key() -> bytes:
    """A secret that the bot does not have."""
    return secrets.token_bytes(32)


def no_answer(failed: Failed) -> str:
    """Why there is no answer, as a sentence."""
    text = NO_ANSWER[failed.code]
    return f"{text[0].upper()}{text[1:]}."


def fault_of_answer(recorded: Recorded, result: Sent) -> str | None:
    """What is wrong with the answer to a task, in sentences that say what would be right; None if the service takes it."""
    if not isinstance(result, Answered):
        return no_answer(result)
    if result.status == DECLINED:
        return None
    if result.status != 200:
        return f'It answered {result.status}. Answer 200 with {{"action": …}}, or 204.'
    action = action_of(result.body)
    if action is None:
        shown = printable(result.body[:_MAX_SHOWN].decode(errors="replace"))
        return f'The body must be {{"action": {{…}}}} in strict JSON, and nothing else. It begins with: {shown}'
    try:
        recorded.check(action)
    except Refused as refusal:
        return printable(f"{_shown(action)}: {refusal.detail}")
    return None


def fault_of_refusal(result: Sent) -> str | None:
    """What is wrong with the answer to a call that must be refused; None if it is refused with a status from 400 to 499."""
    if not isinstance(result, Answered):
        return f"{no_answer(result)} Answer with a status from 400 to 499."
    if 400 <= result.status < 500:
        return None
    return f"It answered {result.status}, and not a status from 400 to 499."


def _shown(action: Mapping[str, Any]) -> str:
    return msgspec.json.encode(action)[:_MAX_SHOWN].decode(errors="replace")
