"""Run these with `python -m unittest`."""

import contextlib
import io
import unittest

import bot
from client import Refused
from strategy import choose, resolved

TAKE = {"type": "take_tile", "segment": 3}
SWAP = {"type": "swap", "cards": {"any_of": ["a", "b", "c"], "min": 2, "max": 3}}


def turn(match, decision):
    return {"type": "your_turn", "match": match, "decisions": [{"id": decision}], "legal_actions": [TAKE]}


def finished(match):
    return {"type": "finished", "match": match, "status": "finished", "outcome": {"ranks": [1, 2]}}


class Service:
    """Stands in for the client: sends these frames, and keeps the commands that it gets."""

    def __init__(self, frames, problem=None):
        self.sent = []
        self._frames = frames
        self._problem = problem

    def frames(self):
        yield from self._frames

    def post(self, path, body, key):
        self.sent.append((path, body, key))
        if self._problem is not None:
            raise Refused(self._problem)


class StrategyTest(unittest.TestCase):
    def test_the_choice_is_one_of_the_legal_actions(self):
        self.assertEqual(choose([TAKE], dict), TAKE)

    def test_a_pattern_becomes_a_choice_of_its_items(self):
        self.assertEqual(resolved(SWAP), {"type": "swap", "cards": ["a", "b"]})


class BotTest(unittest.TestCase):
    def play(self, service):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            bot.play(service)
        return printed.getvalue()

    def test_every_turn_of_every_match_is_answered_until_the_last_match_ends(self):
        hello = {"type": "hello", "matches": [{"id": "m1", "status": "running"}, {"id": "m2", "status": "open"}]}
        service = Service(
            [hello, turn("m1", "0:4"), turn("m2", "0:4"), finished("m1"), turn("m2", "0:6"), finished("m2")]
        )
        self.play(service)
        self.assertEqual(
            [(path.split("/")[2], key) for path, _, key in service.sent], [("m1", "0:4"), ("m2", "0:4"), ("m2", "0:6")]
        )

    def test_without_matches_it_ends_at_once(self):
        self.play(Service([{"type": "hello", "matches": []}]))

    def test_a_refusal_is_printed_and_the_other_matches_go_on(self):
        hello = {"type": "hello", "matches": [{"id": "m1", "status": "running"}]}
        service = Service(
            [hello, turn("m1", "0:4"), finished("m1")], {"code": "decision-closed", "detail": "It has closed."}
        )
        self.assertIn("refused: It has closed.", self.play(service))


if __name__ == "__main__":
    unittest.main()
