"""Run these with `python -m unittest`.

They hold for any strategy: its choice must be legal, and need not be that of the example. `sample_task.json` is a task of Ape Town. If
the bot plays another game, write one of that game: `moonstone bot task --help`.
"""

import json
import unittest
from pathlib import Path

from patterns import resolved
from strategy import choose

SAMPLE = json.loads(Path(__file__).with_name("sample_task.json").read_text())
SWAP = {"type": "swap", "cards": {"any_of": ["a", "b", "c"], "min": 2, "max": 3}}


def fits(value, entry):
    """Whether a value is an entry of a legal list, with its patterns resolved."""
    if isinstance(entry, dict) and "any_of" in entry:
        if not isinstance(value, list):
            return False
        return all(item in entry["any_of"] for item in value) and entry["min"] <= len(value) <= entry["max"]
    if isinstance(entry, dict):
        if not isinstance(value, dict):
            return False
        return value.keys() == entry.keys() and all(fits(value[name], entry[name]) for name in entry)
    return value == entry


class StrategyTest(unittest.TestCase):
    def test_the_choice_is_one_of_the_legal_actions(self):
        legal = SAMPLE["legal_actions"]
        choice = choose(legal, lambda: SAMPLE["observation"], SAMPLE["seat"], SAMPLE["match"])
        self.assertTrue(any(fits(choice, entry) for entry in legal), f"it chose {choice!r}, which is not in the list")

    def test_a_pattern_becomes_a_choice_of_its_items(self):
        self.assertEqual(resolved(SWAP), {"type": "swap", "cards": ["a", "b"]})


if __name__ == "__main__":
    unittest.main()
