// Reproducible draws: each draw has a stream of 64-bit words that depends on the key, the label, and the number of
// earlier draws with this label.

import { createHmac } from "node:crypto";
import { canonical } from "./chain.mjs";

const hmac = (key, message) => createHmac("sha256", key).update(message).digest();

export const keyOf = (serverSeed, clientSeeds) => hmac(Buffer.from(serverSeed, "hex"), canonical(clientSeeds));

function u32(number) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  return bytes;
}

export function* words(key, label, nth) {
  const start = Buffer.concat([Buffer.from(label, "utf8"), Buffer.from([0]), u32(nth)]);
  for (let block = 0; ; block += 1) {
    const digest = hmac(key, Buffer.concat([start, u32(block)]));
    for (let at = 0; at < 32; at += 8) yield digest.readBigUInt64BE(at);
  }
}

function below(stream, bound) {
  const m = BigInt(bound);
  const fair = 2n ** 64n - (2n ** 64n % m);
  for (;;) {
    const word = stream.next().value;
    if (word < fair) return Number(word % m);
  }
}

function shuffled(stream, items) {
  const list = [...items];
  for (let last = list.length - 1; last > 0; last -= 1) {
    const other = below(stream, last + 1);
    [list[last], list[other]] = [list[other], list[last]];
  }
  return list;
}

// The draws of the rules: a label, and a function from the words to the outcome.
export const shuffle = (label, items) => ({ label, outcome: (stream) => shuffled(stream, items) });
export const pick = (label, items) => ({ label, outcome: (stream) => items[below(stream, items.length)] });
/** A draw whose list only the rules know. Its label is checked, its outcome is not. */
export const unchecked = (label) => ({ label });
