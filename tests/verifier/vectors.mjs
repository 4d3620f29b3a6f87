// Tests this implementation against the published vectors of service/randomness_vectors.json: `node vectors.mjs`.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { canonical, sha256 } from "./chain.mjs";
import { keyOf, pick, shuffle, words } from "./draws.mjs";

const file = new URL("../../service/randomness_vectors.json", import.meta.url);
const vectors = JSON.parse(readFileSync(file, "utf8"));
const draw = { shuffle, pick };

for (const { value, bytes, sha256: hash } of vectors.canonical) {
  assert.equal(canonical(value), bytes);
  assert.equal(sha256(Buffer.from(bytes)), hash);
}
assert.equal(sha256(Buffer.from(vectors.server_seed, "hex")), vectors.seed_commitment);
for (const { client_seeds: clientSeeds, key: hex, first_words: firstWords, draws } of vectors.cases) {
  const key = keyOf(vectors.server_seed, clientSeeds);
  assert.equal(key.toString("hex"), hex);
  const stream = words(key, "alliance_circle", 0);
  assert.deepEqual(firstWords.map(() => stream.next().value.toString(16).padStart(16, "0")), firstWords);
  for (const { draw: kind, label, nth, items, outcome } of draws) {
    assert.deepEqual(draw[kind](label, items).outcome(words(key, label, nth)), outcome);
  }
}
console.log(`${vectors.canonical.length} canonical forms, ${vectors.cases.length} cases of draws`);
