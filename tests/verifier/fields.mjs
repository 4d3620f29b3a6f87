// The fields of each type of event, in both formats.

import { isHex, isInteger, isObject, isText } from "./chain.mjs";
import { isChosenText } from "./text.mjs";

const isFlag = (value) => typeof value === "boolean";
const isOneOf = (...words) => (value) => words.includes(value);
const isException = (value) => isText(value) && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value);
const isName = (value) => isText(value) && value !== "";
const isTyped = (value) => isObject(value) && isText(value.type);
const isEffects = (value) => Array.isArray(value) && value.every(isTyped);
const isDraw = (value) =>
  isObject(value) && isText(value.label) && Object.hasOwn(value, "outcome") && Object.keys(value).length === 2;
const isDraws = (value) => Array.isArray(value) && value.every(isDraw);
const within = (least, most) => (value) => isInteger(value) && least <= value && value <= most;
const CLOCK = {
  turn_seconds: within(5, 1_209_600), bank_seconds: within(5, 1_209_600), increment_seconds: within(0, 86_400),
  bot_pace_ms: within(0, 60_000),
  on_timeout: isOneOf("default_action", "bot", "resign"),
};
/** Null, or a valid combination: a turn or a bank; an increment only with a bank; on_timeout only with either. */
function isClock(value) {
  if (value === null) return true;
  const has = (name) => isObject(value) && Object.hasOwn(value, name);
  if (!isObject(value) || !Object.keys(value).every((name) => Object.hasOwn(CLOCK, name) && CLOCK[name](value[name]))) {
    return false;
  }
  const timed = has("turn_seconds") || has("bank_seconds");
  if (has("turn_seconds") && has("bank_seconds")) return false;
  return (has("bank_seconds") || !has("increment_seconds")) && (timed || !has("on_timeout"));
}

const seat = { seat: isInteger };
const seated = { ...seat, player: isText, kind: isOneOf("human", "bot") };
const acted = { ...seat, action: isTyped, effects: isEffects, "draws?": isDraws };

/** The fields of `data` by event type. Those with a question mark are optional. */
const IN_FORMAT_1 = {
  match_created: {
    game: isText, ruleset: isInteger, options: isObject, seats: isInteger, clock: isClock, private: isFlag,
    manual_start: isFlag, seed_commitment: isText,
  },
  seat_taken: { ...seated, "client_seed?": (value) => isChosenText(value, 1) },
  seat_left: seat,
  match_started: { draws: isDraws, effects: isEffects },
  action: acted,
  default_action: { ...acted, reason: isOneOf("clock", "bot-failed", "player-left") },
  timer: { label: isText, effects: isEffects, "draws?": isDraws },
  seat_handed_over: seated,
  resigned: seat,
  match_scored: { outcome: isObject, "draws?": isDraws },
  match_aborted: { reason: isOneOf("creator-left") },
  seed_revealed: { server_seed: isHex(64) },
  clock_extended: { ms: isInteger, reason: isOneOf("outage") },
  match_suspended: { reason: isException },
  match_resumed: {},
};
const FIELDS = {
  1: IN_FORMAT_1,
  2: {
    ...IN_FORMAT_1,
    match_created: {
      ...IN_FORMAT_1.match_created,
      format: isOneOf(2), rated: isFlag, open_ms: within(1_000, 2_592_000_000),
      bot_fallback: isOneOf("default_action", "bot", "resign"),
    },
    seat_taken: {
      ...seated, kind: isOneOf("human", "bot", "hosted"), "client_seed?": (value) => isChosenText(value, 2),
      "owner?": isName, "limit_ms?": within(1_000, 10_000),
    },
    default_action: { ...acted, reason: isOneOf("clock", "bot-failed", "player-left", "bot-late") },
    seat_freed: seat,
    seat_handed_over: { ...seated, reason: isOneOf("clock", "absent", "bot-failed", "returned") },
    abort_asked: seat,
    match_aborted: { reason: isOneOf("creator-left", "agreed", "expired") },
  },
};

export function checkFields({ type, data }, format, fail) {
  const fields = Object.hasOwn(FIELDS[format], type) ? FIELDS[format][type] : fail(`there is no event type ${type}`);
  const known = new Set();
  for (const [field, isRight] of Object.entries(fields)) {
    const name = field.replace("?", "");
    known.add(name);
    if (Object.hasOwn(data, name) ? !isRight(data[name]) : name === field) {
      fail(`the field ${name} is not that of ${type}`);
    }
  }
  const other = Object.keys(data).find((name) => !known.has(name));
  if (other !== undefined) fail(`${type} has no field ${other}`);
}
