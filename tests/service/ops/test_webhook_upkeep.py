"""Webhooks in a backup, after a restore, and in a check, on a server and on a cluster."""

from contextlib import ExitStack
from pathlib import Path

from events.redis_log import send
from service.match.new_match import NewMatch
from service.ops import maintenance
from service.repository.ports import news_of
from service.subscriptions import webhook_delivery, webhook_news
from service.subscriptions.webhook_delivery import Request
from service.usecases import webhooks
from service.usecases.match_lifecycle import create, join
from tests.service.ops.stores import GAME, Store, backed_up, open_store

URL = "https://moon.example/"


def test_webhooks_and_deliveries_are_restored_and_news_from_after_the_backup_are_not_skipped(
    store: Store, restore_targets: tuple[dict[str, str], ...], tmp_path: Path, stack: ExitStack
) -> None:
    ports = store.ports
    webhook, secret = webhooks.add(ports, "pl_a", URL, ["started", "your_turn", "finished"])
    match = create(ports, "pl_a", NewMatch(game=GAME, seats=2), "mine").match
    join(ports, "pl_a", match.id, "join")
    join(ports, "pl_b", match.id, "join")
    webhook_news.collect(ports, match.id)
    before = ports.webhooks.deliveries("pl_a")
    assert before
    assert ports.webhooks.position("pl_a", match.id) == 4
    file = backed_up(store, tmp_path)
    for environ in restore_targets:
        messages: list[str] = []
        assert maintenance.restore(environ, file, messages.append)
        assert f"checked 1 webhooks of 1 players with {len(before)} deliveries: 0 faults" in messages
        restored = open_store(environ, stack).ports
        assert restored.webhooks.of(("pl_a",)) == {"pl_a": [webhook]}
        assert restored.webhooks.deliveries("pl_a") == before
        assert restored.webhooks.position("pl_a", match.id) == 0
        now = restored.now()
        assert [due.match for due in restored.log.claim("delivery", now, 9_000, 9)] == [news_of("pl_a")]
        taken = restored.webhooks.take("pl_a", now, 9_000, 9)
        made = webhook_delivery.request(restored, "pl_a", taken[0])
        assert isinstance(made, Request)
        assert webhook.key.secret(restored.secret) == secret
        assert [due.match for due in restored.log.claim("news", now, 9_000, 9)] == [news_of("pl_a")]
        webhook_news.collect_beside_matches(restored, "pl_a", now + 9_000)
        webhook_news.collect(restored, match.id)
        assert restored.webhooks.deliveries("pl_a") == before
        assert restored.webhooks.position("pl_a", match.id) == 4


def test_a_check_finds_a_damaged_webhook_and_arms_what_waits_for_ever(store: Store) -> None:
    ports = store.ports
    webhook, _ = webhooks.add(ports, "pl_a", URL, ["started"])
    webhooks.send_test(ports, "pl_a", webhook.id)
    for key in store.client.scan_iter(match="due:*"):
        send(store.client, ("DEL", key))
    assert store.check()
    assert [due.match for due in ports.log.scheduled("delivery")] == [news_of("pl_a")]
    (key,) = list(store.client.scan_iter(match="webhooks:*:list"))
    send(store.client, ("HSET", key, webhook.id, b"{damaged"))
    assert not store.check()
    assert "a webhook or a delivery of the player pl_a cannot be read" in store.messages
