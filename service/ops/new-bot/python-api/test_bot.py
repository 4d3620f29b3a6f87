"""Run these with `python -m unittest`. They hold for any strategy."""

import contextlib
import io
import unittest
from unittest import mock

import bot
from client import Refused

TAKE = {"type": "take_tile", "segment": 3}
OTHER = {"type": "take_tile", "segment": 4}
HELLO = {"type": "hello", "matches": [{"id": "m1", "status": "running"}]}


def turn(match, decision):
    return {"type": "your_turn", "match": match, "seat": 1, "decisions": [{"id": decision}], "legal_actions": [TAKE]}


def finished(match):
    outcome = {"ranks": [1, 2], "scores": [9, 7], "winners": [0]}
    return {"type": "finished", "match": match, "status": "finished", "seat": 1, "outcome": outcome}


class Service:
    """Stands in for the client: sends these frames, and refuses actions with these problems, one after another."""

    url = "http://service/v1"

    def __init__(self, frames, *problems):
        self.sent = []
        self._frames = frames
        self._problems = list(problems)

    def frames(self):
        yield from self._frames

    def get(self, path):
        return {"actions": [OTHER]}

    def post(self, path, body, key):
        self.sent.append((path.split("/")[2], body["action"], key))
        if self._problems:
            raise Refused(self._problems.pop(0))


@mock.patch("bot.choose", lambda legal_actions, observe, seat, match: legal_actions[0])
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
        printed = self.play(service)
        self.assertEqual(service.sent, [("m1", TAKE, "0:4"), ("m2", TAKE, "0:4"), ("m2", TAKE, "0:6")])
        self.assertIn("m1: lost, rank 2 of 2 with 7 points. http://service/v1/matches/m1/board.svg", printed)

    def test_without_matches_it_ends_at_once(self):
        self.play(Service([{"type": "hello", "matches": []}]))

    def test_a_decision_that_has_closed_is_left(self):
        for code in ("decision-closed", "not-seated"):
            service = Service([HELLO, turn("m1", "0:4"), finished("m1")], {"code": code, "detail": "It has closed."})
            self.assertIn("refused: It has closed.", self.play(service))
            self.assertEqual(len(service.sent), 1)

    def test_after_an_illegal_action_the_first_of_the_newest_list_is_taken(self):
        service = Service([HELLO, turn("m1", "0:4"), finished("m1")], {"code": "illegal-action", "detail": "No."})
        self.assertIn("refused: No.", self.play(service))
        self.assertEqual(service.sent, [("m1", TAKE, "0:4"), ("m1", OTHER, "0:4-again")])

    def test_two_illegal_actions_end_the_program(self):
        problem = {"code": "illegal-action", "detail": "No."}
        with self.assertRaises(Refused):
            self.play(Service([HELLO, turn("m1", "0:4")], problem, problem))


if __name__ == "__main__":
    unittest.main()
