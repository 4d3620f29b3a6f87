// Run these with `node --test`.

import assert from "node:assert/strict";
import test from "node:test";

import { play } from "./bot.mjs";
import { Refused } from "./client.mjs";
import { choose, resolved } from "./strategy.mjs";

const TAKE = { type: "take_tile", segment: 3 };
const turn = (match, id) => ({ type: "your_turn", match, decisions: [{ id }], legal_actions: [TAKE] });
const finished = (match) => ({ type: "finished", match, status: "finished", outcome: { ranks: [1, 2] } });
const hello = (...ids) => ({ type: "hello", matches: ids.map((id) => ({ id, status: "running" })) });

// Stands in for the client: sends these frames, and keeps the commands that it gets.
function service(frames, problem) {
  const sent = [];
  return {
    sent,
    async *frames() {
      yield* frames;
    },
    async post(path, body, key) {
      sent.push([path.split("/")[2], body.action, key]);
      if (problem) throw new Refused(problem, 409);
    },
  };
}

test("the choice is one of the legal actions", async () => {
  assert.deepEqual(await choose([TAKE], async () => ({})), TAKE);
});

test("a pattern becomes a choice of its items", () => {
  const swap = { type: "swap", cards: { any_of: ["a", "b", "c"], min: 2, max: 3 } };
  assert.deepEqual(resolved(swap), { type: "swap", cards: ["a", "b"] });
});

test("every turn of every match is answered until the last match ends", async () => {
  const frames = [hello("m1", "m2"), turn("m1", "0:4"), turn("m2", "0:4"), finished("m1"), turn("m2", "0:6"), finished("m2")];
  const client = service(frames);
  await play(client);
  assert.deepEqual(client.sent, [["m1", TAKE, "0:4"], ["m2", TAKE, "0:4"], ["m2", TAKE, "0:6"]]);
});

test("a refusal does not stop the other matches", async () => {
  const client = service([hello("m1"), turn("m1", "0:4"), finished("m1")], { code: "decision-closed", detail: "It has closed." });
  await play(client);
  assert.equal(client.sent.length, 1);
});
