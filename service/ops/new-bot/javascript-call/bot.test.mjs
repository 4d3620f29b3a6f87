// Run these with `node --test`. They call the bot at a real port, with the signed body of `sample_task.json`.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import test from "node:test";

import { bot } from "./bot.mjs";

const BODY = readFileSync(new URL("sample_task.json", import.meta.url));
const TASK = JSON.parse(BODY);
const [KEY, OTHER_KEY] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

function signed(body, { id = TASK.task, ageS = 0, key = KEY } = {}) {
  const sentAt = String(Math.floor(Date.now() / 1000) - ageS);
  const signature = createHmac("sha256", key).update(`${id}.${sentAt}.`).update(body).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": sentAt, "webhook-signature": `v1,${signature}` };
}

// Calls a bot with this strategy.
async function calling(strategy, work) {
  const server = bot(KEY, strategy);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}/`;
  try {
    await work(async (body, headers) => {
      const response = await fetch(url, { method: "POST", body, headers: { ...headers, Connection: "close" } });
      return { status: response.status, text: await response.text() };
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const first = async ({ legalActions }) => legalActions[0];

test("a call is answered with the choice of the strategy", () => calling(first, async (call) => {
  const { status, text } = await call(BODY, signed(BODY));
  assert.equal(status, 200);
  assert.deepEqual(JSON.parse(text), { action: TASK.legal_actions[0] });
}));

test("the same call gets the same answer", async () => {
  let number = 0;
  await calling(async () => ({ type: String((number += 1)) }), async (call) => {
    assert.deepEqual(await call(BODY, signed(BODY)), await call(BODY, signed(BODY)));
  });
});

test("a call that is not signed with the secret is refused", () => calling(first, async (call) => {
  const changed = { ...signed(BODY), "webhook-id": "another" };
  const wrong = [{}, signed(BODY, { key: OTHER_KEY }), signed(BODY, { ageS: 600 }), signed(Buffer.from("{}")), changed];
  for (const headers of wrong) assert.equal((await call(BODY, headers)).status, 401);
}));

test("one right signature of two is enough", () => calling(first, async (call) => {
  const right = signed(BODY);
  const both = `${signed(BODY, { key: OTHER_KEY })["webhook-signature"]} ${right["webhook-signature"]}`;
  assert.equal((await call(BODY, { ...right, "webhook-signature": both })).status, 200);
}));

test("a body that is no task is refused", () => calling(first, async (call) => {
  for (const text of ["", "{}", "[]", "null", "no JSON", '{"type":"task"}']) {
    const body = Buffer.from(text);
    assert.equal((await call(body, signed(body))).status, 400);
  }
}));

test("a strategy that waits answers 204", () => calling(async () => null, async (call) => {
  assert.deepEqual(await call(BODY, signed(BODY)), { status: 204, text: "" });
}));
