"""The receiver of WEBHOOKS.md runs as it is written."""

import re
import subprocess
import sys
from pathlib import Path

import httpx

from service.adapters.clock import wall_clock
from service.repository.signing import SigningKey
from tests.ports import free_port
from tests.waiting import until

GUIDE = Path(__file__).parents[2] / "WEBHOOKS.md"
STORE = bytes(32)
KEY = SigningKey("webhook:wh_1")
BODY = b'{"type":"test","notice":"test-1"}'


def test_the_receiver_takes_a_notice_once_and_only_with_its_signature(tmp_path: Path) -> None:
    (receiver,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    port = free_port()
    (tmp_path / "secret").write_text(f"{KEY.secret(STORE)}\n")
    program = [sys.executable, "-c", receiver.replace("8000", str(port))]
    with subprocess.Popen(
        program, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:

            def statuses() -> list[int]:
                signed = dict(KEY.headers(STORE, "test-1", wall_clock(), BODY))
                old = dict(KEY.headers(STORE, "test-1", wall_clock() - 600_000, BODY))
                sent = [(BODY, signed), (BODY, signed), (BODY + b" ", signed), (BODY, old), (BODY, {})]
                return [
                    httpx.post(f"http://127.0.0.1:{port}/", content=body, headers=head).status_code
                    for body, head in sent
                ]

            def is_open() -> bool:
                try:
                    return httpx.get(f"http://127.0.0.1:{port}/").status_code == 501
                except httpx.TransportError:
                    return False

            until(is_open, 20, "the receiver listens")
            assert statuses() == [204, 204, 401, 401, 401]
        finally:
            process.kill()
        assert process.stdout is not None
        assert process.stdout.read() == "test None\n"
