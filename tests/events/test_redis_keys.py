"""The names of the log's keys are stored data and never change."""

from events import redis_keys


def test_the_names_of_keys() -> None:
    for cached in (redis_keys.key, redis_keys.keys_of, redis_keys.due_key, redis_keys.due_keys):
        cached.cache_clear()  # filled by a test that does not count for coverage
    assert redis_keys.key("jecq7b7vj7izmztvdrtrx5mjkp", "events") == "match:{p50}:jecq7b7vj7izmztvdrtrx5mjkp:events"
    assert redis_keys.key("ratings:ape_town", "commands") == "ratings:{p51}:ape_town:commands"
    match = "jecq7b7vj7izmztvdrtrx5mjkp"
    parts = ("events", "commands", "seed", "snapshot")
    assert redis_keys.keys_of(match) == tuple(f"match:{{p50}}:{match}:{part}" for part in parts)
    assert redis_keys.due_key(7, "clock") == "due:{p7}:clock"
    dues = redis_keys.due_keys("job")
    assert (len(dues), dues[0], dues[-1]) == (redis_keys.PARTITIONS, "due:{p0}:job", "due:{p63}:job")
