// Run these with `node --test`. They hold for any strategy.

import assert from "node:assert/strict";
import test from "node:test";

import { play } from "./bot.mjs";
import { Refused } from "./client.mjs";

const TAKE = { type: "take_tile", segment: 3 };
const OTHER = { type: "take_tile", segment: 4 };
const turn = (match, id) => ({ type: "your_turn", match, seat: 1, decisions: [{ id }], legal_actions: [TAKE] });
const outcome = { ranks: [1, 2], scores: [9, 7], winners: [0] };
const finished = (match) => ({ type: "finished", match, status: "finished", seat: 1, outcome });
const hello = (...ids) => ({ type: "hello", matches: ids.map((id) => ({ id, status: "running" })) });
const first = async ({ legalActions }) => legalActions[0];
const ILLEGAL = { code: "illegal-action", detail: "No." };

// Stands in for the client: sends these frames, and refuses actions with these problems, one after another.
function service(frames, ...problems) {
  const sent = [];
  return {
    sent,
    url: "http://service/v1",
    async *frames() {
      yield* frames;
    },
    async get() {
      return { actions: [OTHER] };
    },
    async post(path, body, key) {
      sent.push([path.split("/")[2], body.action, key]);
      if (problems.length) throw new Refused(problems.shift(), 409);
    },
  };
}

test("every turn of every match is answered until the last match ends", async () => {
  const begin = [hello("m1", "m2"), turn("m1", "0:4"), turn("m2", "0:4")];
  const client = service([...begin, finished("m1"), turn("m2", "0:6"), finished("m2")]);
  await play(client, first);
  assert.deepEqual(client.sent, [["m1", TAKE, "0:4"], ["m2", TAKE, "0:4"], ["m2", TAKE, "0:6"]]);
});

test("a decision that has closed is left", async () => {
  for (const code of ["decision-closed", "not-seated"]) {
    const client = service([hello("m1"), turn("m1", "0:4"), finished("m1")], { code, detail: "It has closed." });
    await play(client, first);
    assert.equal(client.sent.length, 1);
  }
});

test("after an illegal action the first of the newest list is taken", async () => {
  const client = service([hello("m1"), turn("m1", "0:4"), finished("m1")], ILLEGAL);
  await play(client, first);
  assert.deepEqual(client.sent, [["m1", TAKE, "0:4"], ["m1", OTHER, "0:4-again"]]);
});

test("two illegal actions end the program", async () => {
  await assert.rejects(play(service([hello("m1"), turn("m1", "0:4")], ILLEGAL, ILLEGAL), first), Refused);
});
