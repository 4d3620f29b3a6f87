"""What is remembered of the tasks of hosted bots, in the memory of this process: for local play and for tests."""

from collections import Counter
from collections.abc import Mapping, Sequence

from service.repository.bot_tasks import KEPT_TASKS, Begun, Day, TaskRecord, bucket_of

_DAY_MS = 24 * 3_600_000


class MemoryBotTasks:
    """`BotTasks`, for fewer than `KEPT_DAYS` days."""

    def __init__(self) -> None:
        self._records: dict[str, dict[str, TaskRecord]] = {}
        self._calling: dict[tuple[str, str], int] = {}
        self._outcomes: dict[str, dict[int, Counter[str]]] = {}
        self._times: dict[str, dict[int, Counter[int]]] = {}
        self._erased: set[str] = set()

    def begin(self, bot: str, record: TaskRecord, until: int) -> Begun:
        known = self.find(bot, record.task)
        if bot in self._erased or (known is not None and known.outcome not in {None, "late"}):
            return "ended"
        if self._calling.get((bot, record.turn), 0) > record.asked_at:
            return "busy"
        self._calling[bot, record.turn] = until
        self._store(bot, record)
        return "begun"

    def extend(self, bot: str, record: TaskRecord, until: int) -> None:
        if (bot, record.turn) in self._calling:
            self._calling[bot, record.turn] = until

    def note(self, bot: str, *records: TaskRecord) -> None:
        for record in records:
            if bot not in self._erased and self.find(bot, record.task) is None:
                self._store(bot, record)

    def _store(self, bot: str, record: TaskRecord) -> None:
        records = self._records.setdefault(bot, {})
        records[record.task] = record
        for old in list(records)[:-KEPT_TASKS]:
            del records[old]

    def end(self, bot: str, record: TaskRecord) -> bool:
        self._calling.pop((bot, record.turn), None)
        known = self.find(bot, record.task)
        before = None if known is None else known.outcome
        if bot in self._erased or before not in {None, "declined"}:
            return False
        self._store(bot, record)
        day = (record.ended_at or record.asked_at) // _DAY_MS
        outcomes = self._outcomes.setdefault(bot, {}).setdefault(day, Counter())
        outcomes[record.outcome or "failed"] += 1
        if before is not None:
            outcomes[before] -= 1
        times = self._times.setdefault(bot, {}).setdefault(day, Counter())
        if record.ms is not None:
            times[bucket_of(record.ms)] += 1
        return True

    def find(self, bot: str, task: str) -> TaskRecord | None:
        return self._records.get(bot, {}).get(task)

    def newest(self, bot: str, skip: int, limit: int) -> Sequence[TaskRecord]:
        return list(reversed(self._records.get(bot, {}).values()))[skip : skip + limit]

    def days(self, bots: Sequence[str]) -> Mapping[str, Sequence[Day]]:
        return {bot: self._days(bot) for bot in bots}

    def _days(self, bot: str) -> Sequence[Day]:
        outcomes, times = self._outcomes.get(bot, {}), self._times.get(bot, {})
        return [Day(day, dict(+outcomes[day]), dict(times[day])) for day in sorted(outcomes, reverse=True)]

    def forget(self, bot: str) -> None:
        self._erased.add(bot)
        self._records.pop(bot, None)
        self._outcomes.pop(bot, None)
        self._times.pop(bot, None)
        self._calling = {key: until for key, until in self._calling.items() if key[0] != bot}
