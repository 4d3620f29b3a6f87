"""Mutations of what the service sends to addresses of users."""

from typing import Final

from tests.chaos.mutations_written import Mutation

_CLIENT: Final = "tests/service/adapters/test_outgoing.py"
_NEWS: Final = "tests/service/subscriptions/test_webhook_news.py"
_STORE: Final = "tests/service/adapters/test_webhooks.py"

# fmt: off
CALLS: Final = (
    Mutation("a redirect is followed", "service/adapters/outgoing.py",
        "allow_redirects=False",
        "allow_redirects=True",
        f"{_CLIENT}::test_every_status_is_an_answer_and_no_redirect_is_followed"),
    Mutation("one public address of a host is enough", "service/adapters/outgoing.py",
        "if not all(is_allowed(",
        "if not any(is_allowed(",
        f"{_CLIENT}::test_a_name_with_one_address_that_is_not_public_is_not_called"),
    Mutation("a socket is not checked when it is opened", "service/adapters/outgoing.py",
        "        if not is_allowed(ip_address(address[0]",
        "        if False and not is_allowed(ip_address(address[0]",
        f"{_CLIENT}::test_a_connection_is_checked_again_when_it_is_opened"),
    Mutation("an answer is read to its end", "service/adapters/outgoing.py",
        "                if size > max_bytes:\n",
        "                if False:\n",
        f"{_CLIENT}::test_a_receiver_that"),
    Mutation("addresses that lead to others are called", "service/repository/outgoing.py",
        "any(address in network for network in _CARRIERS if network.version == address.version)",
        "False",
        f"{_CLIENT}::test_a_name_with_one_address_that_is_not_public_is_not_called"),
    Mutation("a signature does not cover the time", "service/repository/signing.py",
        "(message.encode(), str(at).encode(), body)",
        '(message.encode(), b"0", body)',
        "tests/service/repository/test_signing.py::test_the_library_verifies_our_signature_and_refuses_any_other"),
    Mutation("the previous secret is valid for ever", "service/repository/signing.py",
        "now - self.renewed_at < OVERLAP_MS",
        "True",
        "tests/service/repository/test_signing.py::test_both_secrets_are_valid_for_a_day_after_a_renewal"),
    Mutation("an append makes news due that nobody waits for", "events/functions.lua",
        "redis.call('ZADD', keys[before + i], 'XX', string.sub(time, 2), match)",
        "redis.call('ZADD', keys[before + i], string.sub(time, 2), match)",
        "tests/events/test_redis_log.py::TestRedisLog::test_an_append_replaces_a_due_time_only_if_there_is_one"),
    Mutation("a known delivery is made again", "service/adapters/webhook_scripts.py",
        "redis.call('HSETNX', deliveries, name, delivery) == 1",
        "redis.call('HSET', deliveries, name, delivery) >= 0",
        f"{_STORE}::test_deliveries_are_made_once_and_taken_by_one_process"),
    Mutation("a delivery is taken twice", "service/adapters/webhook_scripts.py",
        "    redis.call('ZADD', pending, ARGV[3], name)\n    taken",
        "    taken",
        f"{_STORE}::test_deliveries_are_made_once_and_taken_by_one_process"),
    Mutation("a notice of a turn that was taken is sent", "service/subscriptions/webhook_delivery.py",
        "version not in turns(newest, player)",
        "version < 0",
        f"{_NEWS}::test_a_turn_that_was_taken_is_not_sent"),
    Mutation("a webhook gets what happened before it", "service/subscriptions/webhook_news.py",
        " and then.at >= webhook.since:",
        ":",
        f"{_NEWS}::test_each_webhook_gets_what_happens_from_its_own_time_on"),
    Mutation("the end of a rated match does not wait for the rating", "service/subscriptions/webhook_news.py",
        "    if awaits_rating(ports, match):\n",
        "    if False:\n",
        f"{_NEWS}::test_the_end_of_a_rated_match_has_the_change_of_the_rating"),
)
# fmt: on
