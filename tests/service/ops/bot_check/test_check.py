"""`moonstone bot check` with honest bots and with bots that are wrong in one way each."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result

from service.games.registry import GAMES
from service.ops.bot_check import checks
from service.ops.cli import main
from tests.service import called_bots as bots
from tests.service.called_bots import SECRET, Declines, Honest, serving

APE: Final = ("ape_town",)
TIMED: Final = ("four_monkeys",)
UNSIGNED: Final = {"signature-missing", "signature-wrong", "timestamp-old"}


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n")
    return file


def check(url: str, secret: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["bot", "check", url, "--secret-file", str(secret), *words])


def found(bot: Honest, secret: Path, games: tuple[str, ...]) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code, and the verdicts by check."""
    words = [word for game in games for word in ("--game", game)]
    with serving(bot) as url:
        done = check(url, secret, "--json", "--limit-ms", str(bot.limit_ms), *words)
    assert done.exit_code in {0, 1}, done.output
    result = json.loads(done.stdout)
    verdicts = {one["check"]: one for one in result["verdicts"]}
    assert len(verdicts) == len(result["verdicts"])
    assert result["faults"] == sum(one["outcome"] == "fault" for one in verdicts.values())
    return done.exit_code, verdicts


def test_an_honest_bot_has_no_fault_in_any_game(secret: Path) -> None:
    bot = Honest()
    with serving(bot) as url:
        done = check(url, secret)
    assert done.exit_code == 0, done.output
    *lines, end = done.stdout.splitlines()
    assert end == "No fault found."
    assert {line.split()[0] for line in lines} == {"ok"}
    assert [line.split()[1] for line in lines[:5]] == ["signature-right:", *(f"game:{game}:" for game in sorted(GAMES))]
    assert len(lines) == 17
    assert SECRET not in done.output


FAULTS: Final[dict[type[Honest], tuple[tuple[str, ...], set[str], str]]] = {
    # the bot: the games, the checks with a fault, and a part of the text of one of them
    bots.NoSignature: (APE, UNSIGNED, "A call without webhook-"),
    bots.OtherSecret: (APE, {"signature-right"}, "refused a signed call with 401. Give it the secret"),
    bots.Elsewhere: (
        APE,
        {"signature-right"},
        "It answered a call with 405. Give the URL at which the bot takes calls",
    ),
    bots.NoAge: (APE, {"timestamp-old"}, "signed 10 minutes ago: It answered 200, and not a status from 400 to 499."),
    bots.NoBody: (APE, {"signature-wrong"}, "A call whose body was changed: It answered 200"),
    bots.OneSignature: (APE, {"secret-renewed"}, "It answered 401."),
    bots.HangsUpOnStrangers: (APE, UNSIGNED, "Answer with a status from 400 to 499."),
    bots.CrashesOnStrangers: (APE, UNSIGNED, "It answered 500, and not a status from 400 to 499."),
    bots.Illegal: (APE, {"game:ape_town"}, '{"type":"take_tile","segment":39}: '),
    bots.Unresolved: (TIMED, {"game:four_monkeys", "patterns"}, "the items of its `any_of`"),
    bots.More: (APE, {"game:ape_town"}, 'must be {"action": {…}} in strict JSON'),
    bots.Created: (APE, {"game:ape_town"}, "It answered 201. Answer 200"),
    bots.Redirects: (
        APE,
        {"game:ape_town"},
        "or 204. If it does not play this game, name those that it plays with --game.",
    ),
    bots.OneStep: (APE, {"game:ape_town"}, "It took 1 of 2 decisions. In the step place_tile of ape_town"),
    bots.Strict: (APE, {"unknown-fields"}, "It answered 400."),
    bots.StrictInside: (APE, {"unknown-fields"}, "It answered 400."),
    bots.CrashesWithoutTask: (APE, {"malformed"}, "A signed call with an empty body: It answered 500"),
    bots.AcceptsAnything: (APE, {"malformed"}, "A signed call with an empty body: It answered 200"),
    bots.StopsAfterNonsense: (APE, {"malformed"}, "The task after calls without one: It answered 500."),
    bots.Once: (APE, {"duplicates"}, "The same call once more: It answered 409."),
    bots.Mixes: (APE, {"at-once"}, "16 calls at once: In the step "),
    bots.Hangs: (APE, {"signature-right"}, "There is no answer to a call. Its answer was not complete in time."),
    bots.HangsOnce: (APE, {"game:ape_town", "times"}, "1 took 1000 ms or more"),
    bots.ForgetsTheTime: (APE, {"deadline-near"}, "A decision whose deadline was 1000 ms away: "),
    bots.NeedsTime: (APE, {"late"}, "A task whose deadline has passed: It answered 500."),
    bots.OffendedByLateness: (APE, {"late"}, "The task after one whose answer was late: It answered 500."),
}


@pytest.mark.parametrize("bot", FAULTS, ids=lambda bot: bot.__name__)
def test_each_fault_gets_its_verdict_and_no_other_does(secret: Path, bot: type[Honest]) -> None:
    games, faults, text = FAULTS[bot]
    code, verdicts = found(bot(), secret, games)
    assert {name for name, one in verdicts.items() if one["outcome"] == "fault"} == faults, verdicts
    assert any(text in verdicts[name]["text"] for name in faults), verdicts
    assert code == 1


def test_every_check_has_a_fault_that_it_finds(secret: Path) -> None:
    _, verdicts = found(Honest(), secret, TIMED)
    seen = {fault for _, faults, _ in FAULTS.values() for fault in faults}
    assert {name.partition(":")[0] for name in verdicts} == {name.partition(":")[0] for name in seen}


def test_a_bot_that_declines_has_no_fault_and_what_it_declined_is_said(secret: Path) -> None:
    code, verdicts = found(Declines(), secret, TIMED)
    assert (code, verdicts["patterns"]["outcome"]) == (0, "skipped")
    assert verdicts["game:four_monkeys"]["text"].endswith("It declined 5 of them (204), to act over the API.")


def test_without_a_server_the_check_says_so(secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "START_S", 0.0)
    done = check("http://127.0.0.1:1024/", secret, "--game", "ape_town")
    assert (done.exit_code, done.stdout.count("\n")) == (1, 2)
    assert done.stdout.startswith("FAULT    signature-right: There is no answer to a call. ")


@pytest.mark.parametrize(
    ("url", "content", "sentence"),
    [
        ("http://bot.example/", SECRET, "The URL must begin with https://."),
        ("https://10.0.0.1/", SECRET, "The URL must not name an address that is not public."),
        ("http://127.0.0.1:8000/", "whsec_", "has no secret. It is `whsec_` and 24 to 64 bytes in base64."),
        ("http://127.0.0.1:8000/", SECRET.removeprefix("whsec_"), "has no secret."),
        ("http://127.0.0.1:8000/", None, "`moonstone bot new --door call` writes one"),
    ],
)
def test_wrong_arguments_are_reported(tmp_path: Path, url: str, content: str | None, sentence: str) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_text(content)
    done = check(url, file)
    assert (done.exit_code, sentence in done.stderr) == (2, True), done.output
    assert not content or content == "whsec_" or content not in done.output
