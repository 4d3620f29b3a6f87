"""Commands of `moonstone` in the process of the tests."""

from click.testing import CliRunner, Result

from service.ops.cli import main


def run(*words: object) -> Result:
    """The result of a command with these words."""
    return CliRunner().invoke(main, [str(word) for word in words])
