"""News of matches and players become deliveries, once each, to those who subscribed."""

from collections.abc import Sequence

import msgspec
import pytest

from service.adapters.memory import MemoryWebhooks
from service.automation import rating
from service.repository.outgoing import Answered, Failed
from service.repository.ports import news_of
from service.repository.webhooks import NOTIFIED, SUSPENDED_AFTER_MS, Delivery, Notified, Webhook
from service.subscriptions import webhook_delivery, webhook_news
from service.subscriptions.webhook_delivery import LONGEST_WAIT_MS, TRIED_FOR_MS, Request
from service.usecases import webhooks
from service.usecases.match_lifecycle import free_seat
from tests.service.arena import Arena, refused

URL = "https://moon.example/hook"


class Subscribers(Arena):
    """An arena whose players may have webhooks, and in which the test plays the process `calls`."""

    def subscribe(self, player: str, *events: Notified) -> Webhook:
        return webhooks.add(self.ports, player, URL, events or NOTIFIED)[0]

    def collect(self) -> None:
        """Handle all news that are due."""
        for due in self.ports.log.claim("news", self.time, 10_000, 100):
            if due.match.startswith("player:"):
                player = due.match.removeprefix("player:")
                webhook_news.collect_beside_matches(self.ports, player, self.time + 10_000)
            else:
                webhook_news.collect(self.ports, due.match)

    def collected(self, player: str) -> list[str]:
        """The types of all deliveries of a player after all news that are due, oldest first."""
        self.collect()
        self.collect()  # the player's news make those of matches due
        return [webhooks.see_delivery(one).type for one in reversed(self.ports.webhooks.deliveries(player))]

    def take(self, player: str) -> Sequence[Delivery]:
        return self.ports.webhooks.take(player, self.time, 30_000, 100)

    def attempt(self, player: str, result: Answered | Failed) -> Delivery:
        """Attempt the one delivery of a player that is due, with this result, and return it as it is then."""
        (taken,) = self.take(player)
        made = webhook_delivery.request(self.ports, player, taken)
        assert isinstance(made, Request)
        webhook_delivery.note(self.ports, player, taken, result)
        return next(one for one in self.ports.webhooks.deliveries(player) if one.notice == taken.notice)


@pytest.fixture
def arena() -> Subscribers:
    return Subscribers()


def test_a_subscriber_gets_each_turn_and_the_end_once(arena: Subscribers) -> None:
    arena.subscribe("ada")
    table = arena.monkeys("ada", "ben")
    assert set(arena.collected("ada")) <= {"started", "your_turn"}
    arena.play_out(table)
    arena.wait(5_000)
    found = arena.collected("ada")
    assert found[0] == "started"
    assert found[-1] == "finished"
    assert arena.collected("ada") == found
    assert arena.ports.webhooks.deliveries("ben") == []
    assert table not in {due.match for due in arena.ports.log.scheduled("news")}


def test_only_the_chosen_types_are_sent_and_only_what_happened_since(arena: Subscribers) -> None:
    table = arena.monkeys("ada", "ben")
    arena.wait(1)
    arena.subscribe("ada", "finished")
    assert arena.collected("ada") == []
    arena.leave(table, "ben")
    arena.play_out(table)
    arena.wait(5_000)
    assert arena.collected("ada") == ["finished"]


def test_each_webhook_gets_what_happens_from_its_own_time_on(arena: Subscribers) -> None:
    first = arena.subscribe("ada", "started")
    arena.monkeys("ada", "ben")
    arena.wait(1)
    arena.subscribe("ada", "started")
    assert arena.collected("ada") == ["started"]
    assert [one.webhook for one in arena.ports.webhooks.deliveries("ada")] == [first.id]


def test_a_match_that_nobody_subscribed_has_no_entry(arena: Subscribers) -> None:
    table = arena.monkeys("ada", "ben")
    arena.play_out(table)
    assert arena.ports.log.scheduled("news") == ()


def test_the_append_of_a_move_looks_for_no_webhooks(arena: Subscribers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a player with webhooks too: the entry that waits is enough."""
    arena.subscribe("ada")
    table = arena.monkeys("ada", bots=("random",))
    arena.collect()
    (waiting,) = (due.at for due in arena.ports.log.scheduled("news") if due.match == table)
    assert waiting > arena.time

    def no_read(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(MemoryWebhooks, "of", no_read)
    arena.wait(1)
    arena.play_out(table)
    assert arena.match(table).is_over
    (due_at,) = (due.at for due in arena.ports.log.scheduled("news") if due.match == table)
    assert due_at <= arena.time


def test_a_match_that_began_before_the_webhook_is_watched_from_then_on(arena: Subscribers) -> None:
    table = arena.monkeys("ada", "ben")
    arena.wait(1)
    arena.subscribe("ada")
    assert arena.collected("ada") == []
    assert {due.match for due in arena.ports.log.scheduled("news")} == {table, news_of("ada")}
    while arena.match(table).decisions()[0].seat == 0:
        arena.act(table, "ada")
    arena.wait(1)
    while arena.match(table).decisions()[0].seat == 1:
        arena.act(table, "ben")
    assert arena.collected("ada") == ["your_turn"]


def test_the_entry_goes_when_the_last_webhook_is_deleted(arena: Subscribers) -> None:
    webhook = arena.subscribe("ada")
    arena.monkeys("ada", "ben")
    arena.collected("ada")
    webhooks.remove(arena.ports, "ada", webhook.id)
    arena.wait(webhook_news.RECHECK_MS)
    arena.collect()
    assert arena.ports.log.scheduled("news") == ()


def test_the_creator_of_a_match_of_bots_gets_its_end(arena: Subscribers) -> None:
    arena.subscribe("host", "finished")
    table = arena.create("monkeys_on_the_moon", bots=("random", "random"))
    arena.play_out(table)
    arena.wait(5_000)
    assert arena.collected("host") == ["finished"]


def test_what_happens_beside_matches_is_sent_too(arena: Subscribers) -> None:
    arena.subscribe("ada")
    table = arena.join(arena.create("monkeys_on_the_moon", manual_start=True), "ada")
    free_seat(arena.ports, "host", table, "free", seat=0)
    arena.wait(webhook_news.RECHECK_MS)
    assert arena.collected("ada") == ["seat_freed"]
    arena.wait(webhook_news.RECHECK_MS)
    assert arena.collected("ada") == ["seat_freed"]


def test_a_turn_that_was_taken_is_not_sent(arena: Subscribers) -> None:
    arena.subscribe("ada", "your_turn")
    table = arena.monkeys("ada", "ben")
    while arena.match(table).decisions()[0].seat != 0:
        arena.act(table, "ben")
    arena.collected("ada")
    while arena.match(table).decisions()[0].seat == 0:
        arena.act(table, "ada")
    for taken in arena.take("ada"):
        assert webhook_delivery.request(arena.ports, "ada", taken) == "outdated"


def test_the_end_of_a_rated_match_has_the_change_of_the_rating(arena: Subscribers) -> None:
    arena.subscribe("ada", "finished")
    table = arena.join(arena.create(turn_seconds=20, rated=True), "ada", "ben")
    arena.play_out(table)
    assert arena.collected("ada") == []
    rating.rate(arena.ports, table)
    arena.wait(webhook_news.RATING_PAUSE_MS)
    assert arena.collected("ada") == ["finished"]
    (taken,) = arena.take("ada")
    made = webhook_delivery.request(arena.ports, "ada", taken)
    assert isinstance(made, Request)
    assert msgspec.json.decode(made.body)["rating"]["counted"] is True


def test_a_webhook_that_is_active_again_gets_what_happens_from_then_on(arena: Subscribers) -> None:
    webhook = arena.subscribe("ada", "started")
    webhooks.change(arena.ports, "ada", webhook.id, active=False)
    arena.monkeys("ada", "ben")
    arena.wait(1)
    webhooks.change(arena.ports, "ada", webhook.id, active=True)
    assert arena.collected("ada") == []
    arena.monkeys("ada", "ben")
    assert arena.collected("ada") == ["started"]


def test_attempts_are_repeated_with_growing_waits_for_a_day(arena: Subscribers) -> None:
    webhook = arena.subscribe("ada", "started")
    arena.monkeys("ada", "ben")
    assert arena.collected("ada") == ["started"]
    began, waits = arena.time, []
    while True:
        tried = arena.attempt("ada", Failed("timeout", 15_000))
        if tried.next_at is None:
            break
        waits.append(tried.next_at - arena.time)
        arena.time = tried.next_at
    assert (tried.status, tried.attempts) == ("failed", len(waits) + 1)
    assert TRIED_FOR_MS - 2 * LONGEST_WAIT_MS < arena.time - began <= TRIED_FOR_MS
    assert 5_000 <= waits[0] < 7_500
    assert 15_000 <= waits[1] < 22_500
    assert max(waits) < 1.5 * LONGEST_WAIT_MS
    assert arena.take("ada") == []
    (seen,) = webhooks.list_webhooks(arena.ports, "ada")
    assert (seen.id, seen.status, seen.failing_since) == (webhook.id, "active", began - 15_000)


@pytest.mark.parametrize("status", [301, 404, 429, 500, 503])
def test_any_other_status_is_a_failure_and_retry_after_is_obeyed(arena: Subscribers, status: int) -> None:
    arena.subscribe("ada", "started")
    arena.monkeys("ada", "ben")
    arena.collected("ada")
    tried = arena.attempt("ada", Answered(status, b"", 5, retry_after_s=600))
    assert (tried.status, tried.next_at) == ("pending", arena.time + 600_000)


def test_410_ends_a_webhook_and_its_player_sees_why(arena: Subscribers) -> None:
    webhook = arena.subscribe("ada", "started")
    arena.monkeys("ada", "ben")
    arena.collected("ada")
    assert arena.attempt("ada", Answered(410, b"", 5)).status == "failed"
    (seen,) = webhooks.list_webhooks(arena.ports, "ada")
    assert (seen.status, seen.reason) == ("ended", "410")
    refused("webhook-not-active", webhooks.send_test, arena.ports, "ada", webhook.id)
    arena.monkeys("ada", "ben")
    assert arena.collected("ada") == ["started"]


def test_five_days_of_failure_suspend_a_webhook_until_its_player_repairs_it(arena: Subscribers) -> None:
    webhook = arena.subscribe("ada", "started")
    for _ in range(6):
        arena.monkeys("ada", "ben")
        arena.collected("ada")
        arena.attempt("ada", Failed("unreachable", 5))
        arena.wait(SUSPENDED_AFTER_MS // 5 + 1)
        for taken in arena.take("ada"):
            webhook_delivery.settle(arena.ports, "ada", taken, taken, "failed")
    (seen,) = webhooks.list_webhooks(arena.ports, "ada")
    assert (seen.status, seen.reason) == ("suspended", "unreachable")
    webhooks.change(arena.ports, "ada", webhook.id, active=True)
    (seen,) = webhooks.list_webhooks(arena.ports, "ada")
    assert (seen.status, seen.reason, seen.failing_since) == ("active", None, None)


def test_a_success_ends_the_time_of_failure(arena: Subscribers) -> None:
    arena.subscribe("ada", "started")
    arena.monkeys("ada", "ben")
    arena.collected("ada")
    tried = arena.attempt("ada", Failed("tls", 5))
    arena.time = tried.next_at or 0
    tried = arena.attempt("ada", Answered(204, b"", 5))
    assert (tried.status, tried.attempts, tried.next_at) == ("delivered", 2, None)
    (seen,) = webhooks.list_webhooks(arena.ports, "ada")
    assert seen.failing_since is None


def test_pending_deliveries_of_a_webhook_that_is_not_active_are_dropped(arena: Subscribers) -> None:
    webhook = arena.subscribe("ada", "started")
    arena.monkeys("ada", "ben")
    arena.collected("ada")
    webhooks.change(arena.ports, "ada", webhook.id, active=False)
    (taken,) = arena.take("ada")
    assert webhook_delivery.request(arena.ports, "ada", taken) == "dropped"


def test_a_delivery_can_be_sent_again(arena: Subscribers) -> None:
    webhook = arena.subscribe("ada", "started")
    arena.monkeys("ada", "ben")
    arena.collected("ada")
    sent = arena.attempt("ada", Answered(200, b"", 5))
    arena.wait(TRIED_FOR_MS)
    again = webhooks.send_again(arena.ports, "ada", webhook.id, sent.notice)
    assert (again.status, again.next_at) == ("pending", arena.time)
    assert arena.attempt("ada", Answered(200, b"", 5)).attempts == 1
    refused("delivery-not-found", webhooks.send_again, arena.ports, "ada", webhook.id, "other")
    refused("webhook-not-found", webhooks.send_again, arena.ports, "ada", "wh_other", sent.notice)


def test_a_webhook_that_is_made_during_an_erasure_does_not_stay(arena: Subscribers) -> None:
    arena.ports.accounts.begin_erasure("ada", arena.time)
    arena.ports.webhooks.erase("ada")
    refused("token-invalid", webhooks.add, arena.ports, "ada", URL, NOTIFIED)
    assert arena.ports.webhooks.of(("ada",)) == {}
