"""What `moonstone check` finds besides faults of single events: missing seeds, and heads that the log lost."""

from collections.abc import Callable
from pathlib import Path

from events.chain import Draft
from service.adapters.heads import FILE, Heads
from service.adapters.store import stored
from service.ops import maintenance
from tests.service.ops.stores import Store, backed_up, reseal


def test_a_check_compares_the_saved_heads_and_a_restored_store_starts_without_heads(
    store: Store, empty: Callable[[str], dict[str, str]], tmp_path: Path
) -> None:
    kept, lost = store.bots(over=True), store.bots(over=True)
    file = backed_up(store, tmp_path)
    known = Heads(Path(store.environ["MOONSTONE_DATA_DIR"]) / FILE)
    known.reset(stored(store.client).id)  # type: ignore[union-attr]
    known.keep({match.id: match.head for match in (kept, lost)}, 1)
    known.record_mark(0, 1_700_000_000_000)
    known.close()
    assert store.check()
    assert store.messages[1:] == [
        "compared 2 heads that were saved outside the log, last at 2023-11-14T22:13:20Z: 0 faults"
    ]
    for part in ("events", "commands", "seed", "snapshot"):
        store.client.delete(f"{store.key(lost)}:{part}")
    assert not store.check()
    assert store.messages[1:] == [
        f"match {lost.id}, version {lost.head.version}: the log held it and no longer does",
        "compared 2 heads that were saved outside the log, last at 2023-11-14T22:13:20Z: 1 faults",
    ]
    restored = {**store.environ, "MOONSTONE_LOG_URL": empty("other")["MOONSTONE_LOG_URL"]}
    assert maintenance.restore(restored, file, store.messages.append)
    assert maintenance.check(restored, store.messages.append)
    assert store.messages[-1].startswith("no heads were saved in ")


def test_a_match_that_a_newer_release_wrote_to_is_no_fault_and_not_checked(store: Store) -> None:
    match, other = store.bots(over=True), store.bots(over=True)
    reseal(store, match, Draft("lent", "worker", b"{}"))
    assert not store.check()
    newer, counts, _ = store.messages
    assert newer == (
        f"match {match.id}, engine-too-old: This service is too old for this match: it does not know the event type lent "
        f"at version {match.head.version}."
    )
    assert counts == (
        "checked 2 matches (0 open, 0 running, 0 suspended, 1 finished, 0 aborted, 1 of a newer release) "
        f"with {other.head.version} events, 1 audited: 0 faults"
    )


def test_a_running_match_that_lost_its_seed_is_a_fault(store: Store) -> None:
    match = store.bots()
    store.client.set(f"{store.key(match)}:seed", b"\0" * 32)
    assert not store.check()
    assert "the seed that the match is committed to is missing" in store.messages[0]
