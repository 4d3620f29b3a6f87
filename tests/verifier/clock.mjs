// Time: the deadlines of seats, what happens after a deadline, and the pace of bots. In a game with simultaneous
// decisions, effects say when decisions open (`waits` of games.mjs). In other games every event ends one decision and
// opens the next. Match time is server time minus the outages that were given back.

import { createHash } from "node:crypto";

const GRACE_MS = 100;
const ABSENCE_MS = 14 * 24 * 3_600_000;
const PACE_AGAINST_A_BELL_MS = 2_500;

/** The state of the clock before a match starts. */
export function newClock(clock, seats) {
  const openings = Array(seats).fill({ version: 0, at: 0 });
  return { paused: 0, suspendedAt: 0, bell: null, openings, banks: Array(seats).fill(fullBank(clock)) };
}

const fullBank = (clock) => (clock?.bank_seconds ?? 0) * 1000;

/** The time that an awaited seat has for a decision (ms): by the clock, or else by the limit of a hosted bot. */
function allowed({ clock, banks, seats }, seat) {
  if (clock && "turn_seconds" in clock) return clock.turn_seconds * 1000;
  if (clock && "bank_seconds" in clock) return banks[seat];
  return seats[seat]?.limitMs ?? Infinity;
}

const isTimed = (match, seat) => allowed(match, seat) !== Infinity;

/** The deadline of an awaited seat, in server time (ms); Infinity if it has none. */
function deadline(match, seat) {
  if (match.bell) return match.bell.deadline + match.paused;
  return match.openings[seat]?.at + allowed(match, seat) + match.paused;
}

/**
 * The time at which an awaited bot plays, in server time (ms): between half and one and a half of its pace, depending
 * on the hash of the decision. If a bell limits the decision, only the rules know which event opened it; the result is
 * then the earliest possible time.
 */
function playsAt({ id, bell, clock, openings, paused }, seat) {
  const { version, at } = openings[seat];
  const pace = clock?.bot_pace_ms ?? (bell ? PACE_AGAINST_A_BELL_MS : 0);
  const [jitter] = bell ? [0] : createHash("sha256").update(`${id} ${seat} ${version}`).digest();
  return Math.max(bell?.opensAt ?? 0, at) + Math.floor(pace / 2) + Math.floor((pace * jitter) / 255) + paused;
}

const BY_CLOCK = ["clock", "bot-late"];

/** Checks that an event comes before or after the deadline of its seat, as its type requires. */
export function checkTime(match, { type, at, by, data }, fail) {
  const { bell, clock, paused, seats } = match;
  const occupant = seats[data.seat];
  const byClock = type === "default_action" && BY_CLOCK.includes(data.reason);
  const isHandedOver = type === "seat_handed_over" && ["clock", undefined].includes(data.reason);
  const isLost = type === "resigned" && by === "worker";
  // A hosted bot may fail at any time of its decision, which only the rules know.
  const isFailed = type === "seat_handed_over" && data.reason === "bot-failed";
  const isFailure = isFailed || (isLost && occupant.kind === "hosted");
  const isExpiry = byClock || isHandedOver || (isLost && !isFailure);
  if (bell && (isExpiry || isFailure || type === "default_action")) fail("only the bell may end this decision");
  if (type === "timer" && bell?.label !== data.label) fail(`${data.label} is not the next bell`);
  if (type === "timer" && at < deadline(match) + GRACE_MS) fail("comes before the bell is due");
  if (type === "action" && bell && at < bell.opensAt + paused) fail("comes before the decision opens");
  if (byClock && !isTimed(match, data.seat)) fail("the match has no clock");
  if (byClock && occupant.kind === "human" && !occupant.resigned && ["bot", "resign"].includes(clock.on_timeout)) {
    fail(`the clock of this match does not act for seat ${data.seat}: on_timeout is ${clock.on_timeout}`);
  }
  if (isExpiry && at < deadline(match, data.seat) + GRACE_MS) fail("comes before a deadline has passed");
  if (type === "seat_handed_over" && data.reason === "absent") {
    if (bell || isTimed(match, data.seat)) fail("a seat with a deadline is not absent");
    if (at < match.openings[data.seat].at + paused + ABSENCE_MS) fail("comes before the seat was absent for 14 days");
  }
  const hasFailed = type === "default_action" && data.reason === "bot-failed";
  const isBots = by.startsWith("bot:") || (hasFailed && occupant.kind === "bot");
  if ((type === "action" || isBots || hasFailed) && at >= deadline(match, data.seat)) fail("is too late");
  if (isBots && at < playsAt(match, data.seat)) fail("is not at the time of this bot's turn");
}

const OPENS = ["match_started", "action", "default_action", "timer", "seat_handed_over"];

/** Applies an event to the clock. */
export function stepClock(match, { type, version, at, data }) {
  const { game, clock, banks, openings } = match;
  if (type === "clock_extended") match.paused += data.ms;
  if (type === "match_suspended") match.suspendedAt = at;
  if (type === "match_resumed") match.paused += at - match.suspendedAt;
  if (!OPENS.includes(type) || data.reason === "returned") return;
  const opening = { version, at: at - match.paused };
  if (type === "action" || type === "default_action") {
    const left = Math.max(0, banks[data.seat] - (opening.at - openings[data.seat].at));
    banks[data.seat] = left + (clock?.increment_seconds ?? 0) * 1000;
  }
  if (type === "seat_handed_over") banks[data.seat] = fullBank(clock);
  const waits = (data.effects ?? []).filter((effect) => Object.hasOwn(game.waits ?? {}, effect.type));
  if (game.waits && waits.length === 0) {
    if (data.seat !== undefined) openings[data.seat] = opening;
    return;
  }
  openings.fill(opening);
  match.bell = waits.length === 0 ? null : game.waits[waits.at(-1).type](waits.at(-1));
}
