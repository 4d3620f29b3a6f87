// When each type of event may occur and who must have written it, and the match after it.

import { canonical, faultAt } from "./chain.mjs";
import { checkTime, newClock, stepClock } from "./clock.mjs";
import { checkFields } from "./fields.mjs";

/** The status in which an event may occur; by default, running. */
const WHEN = {
  seat_taken: ["open"],
  seat_left: ["open"],
  seat_freed: ["open"],
  match_started: ["open"],
  match_aborted: ["open", "running"],
  match_resumed: ["suspended"],
  seed_revealed: ["finished", "aborted"],
};

/** Checks of an event. They return who must have written it; by default, the service. */
const AUTHOR = {
  seat_taken(match, { by, data }, fail) {
    const hasOwner = data.kind === "hosted";
    const itself = `player:${data.player}`;
    if (match.seats[data.seat] !== null) fail(`seat ${data.seat} is not free`);
    if (match.rated && data.kind !== "human" && !(hasOwner && by === itself)) fail("a rated match has no such bot");
    if (hasOwner !== (data.owner !== undefined) || hasOwner !== (data.limit_ms !== undefined)) {
      fail("the seat of a hosted bot, and no other, has an owner and a limit");
    }
    if (data.kind === "bot") {
      if (data.client_seed !== undefined) fail("a bot has no client seed");
      if (!["random", ...match.game.bots].includes(data.player)) fail(`no bot ${data.player} plays this game`);
      return match.creator;
    }
    if (data.player === "") fail("a player must have a name");
    if (isSeated(match, data.player)) fail(`${data.player} has a seat already`);
    if (!hasOwner || by === itself) return itself;
    if (data.client_seed !== undefined) fail("a bot that another player seats has no client seed");
    return match.creator;
  },
  seat_left: leaver,
  resigned: leaver,
  action(match, { data }, fail) {
    const occupant = occupantOf(match, data, fail);
    if (occupant.resigned) fail(`the player of seat ${data.seat} left`);
    return occupant.kind === "bot" ? `bot:${occupant.player}` : `seat:${data.seat}`;
  },
  default_action(match, { data }, fail) {
    const occupant = occupantOf(match, data, fail);
    const ofHosted = ["bot-late", "bot-failed"].includes(data.reason) && isFallback(match, occupant, "default_action");
    const ofBot = data.reason === "bot-failed" && occupant.kind === "bot";
    if (data.reason.startsWith("bot-") && !ofHosted && !ofBot) fail("the seat has no bot that could fail in this way");
    if (data.reason === "clock" && isHosted(occupant)) fail("a hosted bot is late, whatever the clock is");
    if (data.reason === "player-left" && !occupant.resigned) fail(`the player of seat ${data.seat} did not leave`);
    return "worker";
  },
  seat_freed(match, { data }, fail) {
    occupantOf(match, data, fail);
    return match.creator;
  },
  abort_asked(match, { data }, fail) {
    if (!isPresent(occupantOf(match, data, fail))) fail(`seat ${data.seat} has no person who could ask`);
    if (match.asked.has(data.seat)) fail(`seat ${data.seat} asked already`);
    if (match.rated) fail("a rated match is not aborted");
    return `seat:${data.seat}`;
  },
  seat_handed_over(match, { by, data }, fail) {
    const occupant = occupantOf(match, data, fail);
    if (data.reason === "returned") {
      if (match.rated) fail("in a rated match no seat is taken back");
      const isTheirs = occupant.former === data.player && occupant.owner === undefined;
      if (data.kind !== "human" || !isTheirs) fail(`${data.player} did not lose this seat`);
      return `player:${data.player}`;
    }
    const [successor = "random"] = match.game.bots;
    const isFailure = data.reason === "bot-failed";
    const isClock = data.reason !== "absent" && !isFailure;
    if (isFailure && !isFallback(match, occupant, "bot")) fail("the seat has no bot that could fail in this way");
    if (isClock && match.clock?.on_timeout !== "bot") fail("the clock of this match does not hand seats over to bots");
    if (!isFailure && !isPresent(occupant)) fail(`seat ${data.seat} is not played by a person`);
    if (data.kind !== "bot" || data.player !== successor) fail(`the seat must go to the bot ${successor}`);
    if (isClock || isFailure) return "worker";
    const mayAsk = (other, seat) => isPresent(other) && seat !== data.seat && by === `seat:${seat}`;
    return match.seats.some(mayAsk) ? by : fail(`was not asked for by another person: ${by}`);
  },
  match_aborted(match, { at, data }, fail) {
    const status = data.reason === "agreed" ? "running" : "open";
    if (match.status !== status) fail(`cannot follow for this reason while the match is ${match.status}`);
    if (data.reason === "agreed" && !isAgreed(match)) fail("not all people asked for it");
    if (data.reason === "expired" && at < match.expiresAt) fail("comes before the time to wait for players is over");
    if (data.reason === "creator-left" && isSeated(match, match.creator.slice("player:".length))) {
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

function occupantOf(match, { seat }, fail) {
  return match.seats[seat] ?? fail(`seat ${seat} is empty`);
}

const isPresent = (occupant) => occupant?.kind === "human" && !occupant.resigned;
const isHosted = (occupant) => occupant.kind === "hosted" && !occupant.resigned;
/** Whether a seat has a hosted bot, and this is what follows when it fails. */
const isFallback = (match, occupant, fallback) => isHosted(occupant) && match.botFallback === fallback;
const isAgreed = ({ asked, seats }) =>
  asked.size > 0 && seats.every((occupant, seat) => !isPresent(occupant) || asked.has(seat));

function isSeated(match, player) {
  return match.seats.some((occupant) => occupant && occupant.kind !== "bot" && occupant.player === player);
}

function leaver(match, { type, by, data }, fail) {
  const occupant = occupantOf(match, data, fail);
  if (occupant.kind === "bot" || occupant.resigned) fail(`seat ${data.seat} has nobody who could leave`);
  const mayLose = isHosted(occupant) ? match.botFallback === "resign" : match.clock?.on_timeout === "resign";
  return type === "resigned" && mayLose && by === "worker" ? "worker" : `seat:${data.seat}`;
}

/** Applies an event to the match. */
const STEP = {
  seat_taken(match, { seat, player, kind, client_seed = null, owner, limit_ms }) {
    match.seats[seat] = { player, kind, clientSeed: client_seed, resigned: false, owner, limitMs: limit_ms };
  },
  seat_left(match, { seat }) {
    match.seats[seat] = null;
  },
  seat_freed(match, { seat }) {
    match.seats[seat] = null;
  },
  abort_asked(match, { seat }) {
    match.asked.add(seat);
    match.mustAbort = isAgreed(match);
  },
  action(match, { seat }) {
    match.asked.delete(seat);
  },
  seat_handed_over(match, { seat, player, kind }) {
    const before = match.seats[seat];
    const former = before.kind === "bot" ? before.former : before.player;
    match.seats[seat] = {
      ...before, player, kind, resigned: false, limitMs: undefined, former: kind === "human" ? undefined : former,
    };
    match.asked.delete(seat);
    match.mustAbort = isAgreed(match);
  },
  resigned(match, { seat }) {
    match.seats[seat].resigned = true;
    match.asked.delete(seat);
    match.mustAbort = isAgreed(match);
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

/** Checks what a rated match must be: public, of two seats or more, with a clock and usual options. */
function checkRated({ private: isPrivate, seats, clock, options }, game, fail) {
  const isTimed = game.keepsTime || "turn_seconds" in (clock ?? {}) || "bank_seconds" in (clock ?? {});
  if (isPrivate) fail("a rated match is public");
  if (seats === 1) fail("a rated match has two seats at least");
  if (!isTimed) fail("a rated match has a clock");
  if (!game.ratedOptions(seats).some((usual) => canonical(usual) === canonical(options))) {
    fail("a rated match has the default options, or those of a variant");
  }
}

/** Checks the first event and returns the match after it. */
export function begin(first, event, game) {
  const fail = faultAt(1, "order");
  const format = first.format === "moonstone-match/1" ? 1 : 2;
  checkFields(event, format, fail);
  const { data } = event;
  if (data.game !== first.game || data.ruleset !== first.ruleset) fail("the game is not that of the first line");
  if (!game.seats.includes(data.seats)) fail(`${first.game} is not for ${data.seats} seats`);
  const options = Object.keys(data.options).sort();
  if (canonical(options) !== canonical(game.options)) fail(`the options of ${first.game} are ${game.options}`);
  const forSeats = Object.keys(data.clock ?? {}).filter((name) => name !== "bot_pace_ms");
  if (game.keepsTime && forSeats.length > 0) {
    fail(`${first.game} has its own time limits, so the clock must not have ${forSeats}`);
  }
  if (data.rated) checkRated(data, game, fail);
  if (!/^player:./s.test(event.by)) fail(`was written by ${event.by} instead of a player`);
  return {
    id: first.match, format, game, status: "open", seats: Array(data.seats).fill(null), creator: event.by, at: event.at,
    options: data.options, clock: data.clock, rated: data.rated === true, manualStart: data.manual_start,
    botFallback: data.bot_fallback,
    commitment: data.seed_commitment,
    expiresAt: event.at + (data.open_ms ?? 0), asked: new Set(), mustAbort: false, drawn: {},
    ...newClock(data.clock, data.seats),
  };
}

/** Checks an event against the match before it. */
export function checkEvent(match, event) {
  const fail = faultAt(event.version, "order");
  checkFields(event, match.format, fail);
  if (event.type === "match_created" || !(WHEN[event.type] ?? ["running"]).includes(match.status)) {
    fail(`${event.type} cannot follow while the match is ${match.status}`);
  }
  const startsByItself = match.status === "open" && !match.seats.includes(null) && !match.manualStart;
  if (startsByItself && event.type !== "match_started") fail("a full match starts before anything else");
  const mustAbort = match.mustAbort && match.status === "running";
  if (mustAbort && event.type !== "match_aborted") fail("the end that all people asked for comes first");
  if (event.at !== match.at && (startsByItself || mustAbort || event.type === "seed_revealed")) {
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
