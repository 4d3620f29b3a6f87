// The fields of each type of event, when it may occur and who must have written it, and the match after it.

import { canonical, faultAt, isHex, isInteger, isObject, isText } from "./chain.mjs";
import { checkTime, newClock, stepClock } from "./clock.mjs";

const isFlag = (value) => typeof value === "boolean";
const isKind = (value) => value === "human" || value === "bot";
const isReason = (value) => ["clock", "bot-failed", "player-left"].includes(value);
const isClientSeed = (value) =>
  isText(value) && /^[^\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]{1,64}$/u.test(value);
const isException = (value) => isText(value) && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value);
const isThe = (word) => (value) => value === word;
const isTyped = (value) => isObject(value) && isText(value.type);
const isEffects = (value) => Array.isArray(value) && value.every(isTyped);
const isDraw = (value) =>
  isObject(value) && isText(value.label) && Object.hasOwn(value, "outcome") && Object.keys(value).length === 2;
const isDraws = (value) => Array.isArray(value) && value.every(isDraw);
const within = (least, most) => (value) => isInteger(value) && least <= value && value <= most;
const CLOCK = {
  turn_seconds: within(5, 1_209_600), bank_seconds: within(5, 1_209_600), increment_seconds: within(0, 86_400),
  bot_pace_ms: within(0, 60_000),
  on_timeout: (value) => ["default_action", "bot", "resign"].includes(value),
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

const seated = { seat: isInteger, player: isText, kind: isKind };
const acted = { seat: isInteger, action: isTyped, effects: isEffects, "draws?": isDraws };

/** The fields of `data` by event type. Those with a question mark are optional. */
const FIELDS = {
  match_created: {
    game: isText, ruleset: isInteger, options: isObject, seats: isInteger, clock: isClock, private: isFlag,
    manual_start: isFlag, seed_commitment: isText,
  },
  seat_taken: { ...seated, "client_seed?": isClientSeed },
  seat_left: { seat: isInteger },
  match_started: { draws: isDraws, effects: isEffects },
  action: acted,
  default_action: { ...acted, reason: isReason },
  timer: { label: isText, effects: isEffects, "draws?": isDraws },
  seat_handed_over: seated,
  resigned: { seat: isInteger },
  match_scored: { outcome: isObject, "draws?": isDraws },
  match_aborted: { reason: isThe("creator-left") },
  seed_revealed: { server_seed: isHex(64) },
  clock_extended: { ms: isInteger, reason: isThe("outage") },
  match_suspended: { reason: isException },
  match_resumed: {},
};

function checkFields(event, fail) {
  const fields = Object.hasOwn(FIELDS, event.type) ? FIELDS[event.type] : fail(`there is no event type ${event.type}`);
  const known = new Set();
  for (const [field, isRight] of Object.entries(fields)) {
    const name = field.replace("?", "");
    known.add(name);
    if (Object.hasOwn(event.data, name) ? !isRight(event.data[name]) : name === field) {
      fail(`the field ${name} is not that of ${event.type}`);
    }
  }
  const other = Object.keys(event.data).find((name) => !known.has(name));
  if (other !== undefined) fail(`${event.type} has no field ${other}`);
}

/** The status in which an event may occur; by default, running. */
const WHEN = {
  seat_taken: ["open"],
  seat_left: ["open"],
  match_started: ["open"],
  match_aborted: ["open"],
  match_resumed: ["suspended"],
  seed_revealed: ["finished", "aborted"],
};

/** Checks of an event. They return who must have written it; by default, the service. */
const AUTHOR = {
  seat_taken(match, { data }, fail) {
    if (match.seats[data.seat] !== null) fail(`seat ${data.seat} is not free`);
    if (data.kind === "bot") {
      if (data.client_seed !== undefined) fail("a bot has no client seed");
      if (!["random", ...match.game.bots].includes(data.player)) fail(`no bot ${data.player} plays this game`);
      return match.creator;
    }
    if (data.player === "") fail("a player must have a name");
    if (isSeated(match, data.player)) fail(`${data.player} has a seat already`);
    return `player:${data.player}`;
  },
  seat_left: leaver,
  resigned: leaver,
  action(match, { data }, fail) {
    const sitter = sitterOf(match, data, fail);
    if (sitter.resigned) fail(`the player of seat ${data.seat} left`);
    return sitter.kind === "bot" ? `bot:${sitter.player}` : `seat:${data.seat}`;
  },
  default_action(match, { data }, fail) {
    const sitter = sitterOf(match, data, fail);
    if (data.reason === "bot-failed" && sitter.kind !== "bot") fail("the seat has no bot that could fail");
    if (data.reason === "player-left" && !sitter.resigned) fail(`the player of seat ${data.seat} did not leave`);
    return "worker";
  },
  seat_handed_over(match, { data }, fail) {
    const sitter = sitterOf(match, data, fail);
    const [heir = "random"] = match.game.bots;
    if (match.clock?.on_timeout !== "bot") fail("the clock of this match does not hand seats over to bots");
    if (sitter.kind === "bot" || sitter.resigned) fail(`seat ${data.seat} is not played by a person`);
    if (data.kind !== "bot" || data.player !== heir) fail(`the seat must go to the bot ${heir}`);
    return "worker";
  },
  match_aborted(match, _event, fail) {
    if (isSeated(match, match.creator.slice("player:".length))) {
      fail("a creator with a seat must leave the seat instead");
    }
    return "worker";
  },
  match_started(match, _event, fail) {
    if (match.seats.includes(null)) fail("the match starts with an empty seat");
    return "worker";
  },
  clock_extended(match, { at, data }, fail) {
    if (data.ms < 1 || data.ms > at - match.at) {
      fail(`gives back ${data.ms} ms, but only ${at - match.at} ms have passed`);
    }
    return "worker";
  },
};

function sitterOf(match, { seat }, fail) {
  return match.seats[seat] ?? fail(`seat ${seat} is empty`);
}

function isSeated(match, player) {
  return match.seats.some((sitter) => sitter?.kind === "human" && sitter.player === player);
}

function leaver(match, { type, by, data }, fail) {
  const sitter = sitterOf(match, data, fail);
  if (sitter.kind === "bot" || sitter.resigned) fail(`seat ${data.seat} has no person who could leave`);
  const byClock = type === "resigned" && match.clock?.on_timeout === "resign" && by === "worker";
  return byClock ? "worker" : `seat:${data.seat}`;
}

/** Applies an event to the match. */
const STEP = {
  seat_taken(match, { seat, player, kind, client_seed = null }) {
    match.seats[seat] = { player, kind, clientSeed: client_seed, resigned: false };
  },
  seat_left(match, { seat }) {
    match.seats[seat] = null;
  },
  seat_handed_over(match, { seat, player, kind }) {
    match.seats[seat] = { ...match.seats[seat], player, kind, resigned: false };
  },
  resigned(match, { seat }) {
    match.seats[seat].resigned = true;
  },
  match_started: enter("running"),
  match_resumed: enter("running"),
  match_suspended: enter("suspended"),
  match_scored: enter("finished"),
  match_aborted: enter("aborted"),
};

function enter(status) {
  return (match) => {
    match.status = status;
  };
}

/** Checks the first event and returns the match after it. */
export function begin(first, event, game) {
  const fail = faultAt(1, "order");
  checkFields(event, fail);
  const { data } = event;
  if (data.game !== first.game || data.ruleset !== first.ruleset) fail("the game is not that of the first line");
  if (!game.seats.includes(data.seats)) fail(`${first.game} is not for ${data.seats} seats`);
  const options = Object.keys(data.options).sort();
  if (canonical(options) !== canonical(game.options)) fail(`the options of ${first.game} are ${game.options}`);
  const forSeats = Object.keys(data.clock ?? {}).filter((name) => name !== "bot_pace_ms");
  if (game.keepsTime && forSeats.length > 0) {
    fail(`${first.game} has its own time limits, so the clock must not have ${forSeats}`);
  }
  if (!/^player:./s.test(event.by)) fail(`was written by ${event.by} instead of a player`);
  return {
    id: first.match, game, status: "open", seats: Array(data.seats).fill(null), creator: event.by, at: event.at,
    options: data.options, clock: data.clock, manualStart: data.manual_start, commitment: data.seed_commitment,
    drawn: {}, ...newClock(data.clock, data.seats),
  };
}

/** Checks an event against the match before it. */
export function checkEvent(match, event) {
  const fail = faultAt(event.version, "order");
  checkFields(event, fail);
  if (event.type === "match_created" || !(WHEN[event.type] ?? ["running"]).includes(match.status)) {
    fail(`${event.type} cannot follow while the match is ${match.status}`);
  }
  const startsByItself = match.status === "open" && !match.seats.includes(null) && !match.manualStart;
  if (startsByItself && event.type !== "match_started") fail("a full match starts before anything else");
  if (event.at !== match.at && (startsByItself || event.type === "seed_revealed")) {
    fail("must have the time of the previous event");
  }
  const author = AUTHOR[event.type]?.(match, event, fail) ?? "worker";
  if (event.by !== author) fail(`was written by ${event.by} instead of ${author}`);
  checkTime(match, event, fail);
}

export function step(match, event) {
  STEP[event.type]?.(match, event.data);
  stepClock(match, event);
  match.at = event.at;
}
