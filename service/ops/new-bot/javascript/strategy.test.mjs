// Run these with `node --test`. They hold for any strategy: its choice must be legal, and need not be that of the example.
// `sample_task.json` is a task of Ape Town. If the bot plays another game, write one of that game: `moonstone bot task --help`.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { resolved } from "./patterns.mjs";
import { choose } from "./strategy.mjs";

const SAMPLE = JSON.parse(readFileSync(new URL("sample_task.json", import.meta.url), "utf8"));

// Whether a value is an entry of a legal list, with its patterns resolved.
function fits(value, entry) {
  if (Array.isArray(entry?.any_of)) {
    if (!Array.isArray(value)) return false;
    const known = entry.any_of.map((item) => JSON.stringify(item));
    const chosen = value.map((item) => JSON.stringify(item));
    return chosen.every((item) => known.includes(item)) && entry.min <= value.length && value.length <= entry.max;
  }
  if (entry === null || typeof entry !== "object" || Array.isArray(entry)) {
    return JSON.stringify(value) === JSON.stringify(entry);
  }
  if (value === null || typeof value !== "object") return false;
  const names = Object.keys(entry);
  const extra = Object.keys(value).filter((name) => !names.includes(name));
  return extra.length === 0 && names.every((name) => name in value && fits(value[name], entry[name]));
}

test("the choice is one of the legal actions", async () => {
  const { legal_actions: legalActions, observation, seat, match } = SAMPLE;
  const choice = await choose({ legalActions, observe: async () => observation, seat, match });
  const isLegal = legalActions.some((entry) => fits(choice, entry));
  assert.ok(isLegal, `it chose ${JSON.stringify(choice)}, which is not in the list`);
});

test("a pattern becomes a choice of its items", () => {
  const swap = { type: "swap", cards: { any_of: ["a", "b", "c"], min: 2, max: 3 } };
  assert.deepEqual(resolved(swap), { type: "swap", cards: ["a", "b"] });
});
