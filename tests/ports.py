"""TCP ports for what a test starts on one."""

from socket import socket

from redis import Redis

from service.adapters.valkey import Valkey


def free_port() -> int:
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def tcp_url(server: Valkey) -> str:
    """Where a server listens that was started with the option `port`."""
    with Redis.from_url(server.url, protocol=2) as client:
        return f"redis://127.0.0.1:{client.config_get('port')['port']}/0"
