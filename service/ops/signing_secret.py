"""The file with the secret that signs calls of a bot, for commands that call bots."""

from pathlib import Path

import click

from service.match.characters import printable
from service.repository.signing import secret_of


def read_secret(file: Path) -> bytes:
    """The secret in a file.

    Raises:
        click.UsageError: there is none.
    """
    try:
        text = file.read_text(encoding="ascii", errors="replace").strip()
    except FileNotFoundError:
        raise click.UsageError(
            f"--secret-file: there is no file {printable(str(file))}. `moonstone bot new --door call` writes one; that of a "
            "hosted bot is the `secret` that the service showed."
        ) from None
    secret = secret_of(text)
    if secret is None:  # do not print it
        raise click.UsageError(
            f"--secret-file: {printable(str(file))} has no secret. It is `whsec_` and 24 to 64 bytes in base64."
        )
    return secret
