"""Host names of tests: what they resolve to, and their certificates."""

import asyncio
import socket
import ssl
from collections.abc import Sequence

import trustme
from aiohttp.abc import AbstractResolver, ResolveResult

HANGS = ("hangs",)


class Names(AbstractResolver):
    """Resolves every name to these addresses; each question gets the next list, the last one again and again."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        del family
        self.asked.append(host)
        addresses = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if addresses == HANGS:
            await asyncio.sleep(60)
        if not addresses:
            raise OSError(socket.EAI_NONAME, "no such name")
        families = {address: socket.AF_INET6 if ":" in address else socket.AF_INET for address in addresses}
        return [
            ResolveResult(hostname=host, host=address, port=port, family=families[address], proto=0, flags=0)
            for address in addresses
        ]

    async def close(self) -> None:
        pass


def certified(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    return context
