// Parses match files: lines, canonical form, and the hash chain.

import { createHash } from "node:crypto";

export class Fault extends Error {
  constructor(version, check, text) {
    super(text);
    this.version = version;
    this.check = check;
  }
}

/** Returns a function that throws a fault of this version and check. */
export const faultAt = (version, check) => (text) => {
  throw new Fault(version, check, text);
};

export const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

export const isText = (value) => typeof value === "string";
export const isHex = (digits) => (value) => isText(value) && new RegExp(`^[0-9a-f]{${digits}}$`).test(value);
export const isInteger = Number.isSafeInteger;
export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Canonical JSON (RFC 8785) without fractions: keys sorted by UTF-16 code unit, no spaces, the shortest escapes. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (isObject(value)) {
    const fields = Object.keys(value).sort().map((name) => `${canonical(name)}:${canonical(value[name])}`);
    return `{${fields.join(",")}}`;
  }
  if (typeof value === "number" && !isInteger(value)) {
    throw new RangeError(`${value} is not an integer that JSON can represent exactly`);
  }
  if (isText(value) && !value.isWellFormed()) throw new RangeError("a string has a lone surrogate");
  return JSON.stringify(value);
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Parses a line with exactly these fields and types. Anything else is a fault of the chain. */
function read(line, version, fields) {
  const fail = faultAt(version, "chain");
  let value, again;
  try {
    const text = decoder.decode(line);
    value = JSON.parse(text);
    again = canonical(value) === text;
  } catch (error) {
    fail(`is not valid JSON of a match file: ${error.message}`);
  }
  if (!again) fail("is not in canonical form");
  const names = Object.keys(fields);
  const whole = isObject(value) && Object.keys(value).length === names.length;
  if (!whole || !names.every((name) => Object.hasOwn(value, name) && fields[name](value[name]))) {
    fail(`must have ${names.join(", ")}, and nothing else`);
  }
  return value;
}

const FIRST = {
  format: (value) => ["moonstone-match/1", "moonstone-match/2"].includes(value),
  match: (value) => isText(value) && /^[a-z2-7]{26}$/.test(value),
  game: isText,
  ruleset: (value) => isInteger(value) && value >= 1,
};
const EVENT = {
  version: isInteger, type: isText, at: isInteger, by: isText, data: isObject, prev: isHex(64), salt: isHex(32),
};

/** Returns the first line, the events in order, and the hash of the last event. */
export function follow(bytes) {
  const lines = [];
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(0x0a, start);
    const end = found < 0 ? bytes.length : found;
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  const first = read(lines[0] ?? Buffer.alloc(0), 0, FIRST);
  let head = sha256(lines[0]);
  let at = 0;
  const events = lines.slice(1).map((line, index) => {
    const fail = faultAt(index + 1, "chain");
    const event = read(line, index + 1, EVENT);
    if (event.version !== index + 1) fail(`has version ${event.version}`);
    if (event.prev !== head) fail("`prev` is not the hash of the previous line");
    if (event.at < at) fail("`at` is before that of the previous event");
    head = sha256(line);
    at = event.at;
    return event;
  });
  return { first, events, head };
}
