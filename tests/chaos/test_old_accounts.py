"""A process of the last release without scopes works beside this one: it accepts no token that it would give too many rights."""

from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from events.redis_log import send
from service.adapters import token_links
from service.adapters.valkey import Valkey
from service.automation.erasure import Erasures
from service.container import Service, build
from service.repository.accounts import digest_of
from service.settings import read
from service.usecases import accounts, recovery
from tests.api.live import get
from tests.chaos.releases import Release, last_of_format_1
from tests.ports import free_port, tcp_url
from tests.service.arena import refused
from tests.waiting import until

SECONDS: Final = 10
"""Less than the 30 seconds for which the older release would cache a token."""


def status(old: Release, token: str) -> int:
    with get(old.port, "/v1/me", {"Authorization": f"Bearer {token}"}) as response:
        response.read()
    return response.status


def post(old: Release, path: str, token: str, body: Mapping[str, object] | None = None) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.post(f"http://127.0.0.1:{old.port}{path}", json=body, headers=headers).raise_for_status().json()


def environment(folder: Path, stack: ExitStack) -> Mapping[str, str]:
    servers = [
        stack.enter_context(Valkey.start(folder / name, durable=durable, options={"port": str(free_port())}))
        for name, durable in (("log", True), ("queue", False))
    ]
    return {
        "MOONSTONE_LOG_URL": tcp_url(servers[0]),
        "MOONSTONE_QUEUE_URL": tcp_url(servers[1]),
        "MOONSTONE_DATA_DIR": str(folder / "data"),
        "MOONSTONE_API_WORKERS": "1",
    }


@pytest.mark.long
def test_an_older_process_accepts_full_tokens_only_and_learns_of_each_revocation(tmp_path: Path) -> None:
    with ExitStack() as stack:
        environ = environment(tmp_path, stack)
        old = stack.enter_context(last_of_format_1(tmp_path, environ))
        old.start_api()
        service: Service = stack.enter_context(closing(build(read(environ), listen=False)))
        ports = service.ports
        player, first = accounts.sign_up(ports, "Ada")
        code = recovery.renew_code(ports, player)
        full, view = accounts.add_token(ports, player, label="full")
        narrow = [
            accounts.add_token(ports, player, scopes=("watch", "play", "account"))[0],
            accounts.add_token(ports, player, seconds=3_600)[0],
        ]
        assert [status(old, token) for token in (first, full, *narrow)] == [200, 200, 401, 401]

        accounts.revoke_token(ports, player, digest_of(first), view.id)
        until(lambda: status(old, full) == 401, SECONDS, "the older process refuses a revoked token")
        assert status(old, first) == 200

        _, recovered = recovery.recover(ports, code)
        until(lambda: status(old, first) == 401, SECONDS, "the older process refuses what a recovery revoked")
        assert status(old, recovered) == 200

        # A process dies after the first record of an erasure. The older process does not know it, and serves the player.
        ports.accounts.begin_erasure(player.id, ports.now())
        late = post(old, "/v1/me/tokens", recovered)["token"]
        match = post(old, "/v1/matches", recovered, {"game": "ape_town", "seats": 2})["id"]
        assert ports.history.newest(match)[0].status == "open"
        Erasures(ports).step()
        until(lambda: status(old, recovered) == 401, SECONDS, "the older process refuses an erased account")
        refused("token-invalid", accounts.authenticate, ports, late)
        assert ports.history.newest(match)[0].status == "aborted"
        ports.accounts.adopt()
        assert token_links.owner_in(*send(service.log_client, *token_links.owner_commands(digest_of(late)))) is None
        assert status(old, late) in {200, 401}  # it may know the name for 30 seconds
        assert not old.faults()
