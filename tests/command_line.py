"""Commands of `moonstone` in the process of the tests."""

from pathlib import Path

from click.testing import CliRunner, Result

from service.ops.cli import main


def run(*words: str | Path) -> Result:
    """The result of a command with these words."""
    return CliRunner().invoke(main, [str(word) for word in words])
