// Checks match files as documented in service/VERIFYING.md: `node verify.mjs FILE…`.
//
// It makes the four checks that need no rules: the hash chain; the order of the events; the draws against the revealed
// seed; the consistency of the outcome. It does not check that the rules allow the actions and produce the effects.
// It prints one line for each file: the checks passed and the head, or the first fault. The exit status is 0, 1 if
// there was a fault, or 2 if a file cannot be read.

import { readFileSync } from "node:fs";
import { argv } from "node:process";
import { canonical, Fault, faultAt, follow, isHex, isInteger, isObject, sha256 } from "./chain.mjs";
import { keyOf, words } from "./draws.mjs";
import { GAMES } from "./games.mjs";
import { begin, checkEvent, step } from "./order.mjs";

/** Returns the head of a match file, or throws its first fault. */
function verify(bytes) {
  const { first, events, head } = follow(bytes);
  const seed = revealed(events);
  const game = Object.hasOwn(GAMES, first.game) ? GAMES[first.game] : undefined;
  if (game?.ruleset !== first.ruleset) faultAt(0, "order")(`ruleset ${first.ruleset} of ${first.game} is not known`);
  const match = begin(first, events[0], game);
  if (sha256(Buffer.from(seed, "hex")) !== match.commitment) {
    faultAt(events.length, "draws")("the revealed seed does not match the commitment");
  }
  for (const event of events.slice(1)) {
    checkEvent(match, event);
    checkDraws(match, event, seed, expectedDraws(match, event));
    if (event.type === "match_scored") checkOutcome(match, event, game);
    step(match, event);
  }
  return { version: events.length, hash: head };
}

/** The seed. The last event, and no other, must reveal it. */
function revealed(events) {
  if (events[0]?.type !== "match_created") faultAt(1, "chain")("a match must begin with match_created");
  const end = events.find((event) => event.type === "seed_revealed");
  if (end === undefined) faultAt(events.length + 1, "chain")("the file ends before the seed is revealed");
  if (end !== events.at(-1)) faultAt(end.version + 1, "order")("no event may follow the one that reveals the seed");
  const seed = end.data.server_seed;
  return isHex(64)(seed) ? seed : faultAt(end.version, "draws")("the seed is not 64 hex digits");
}

/** The draws that an event must have. They depend on options and effects, which may be malformed. */
function expectedDraws(match, event) {
  try {
    return match.game.draws[event.type]?.(match, event) ?? [];
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return faultAt(event.version, "order")(`the options or effects do not fit the game: ${error.message}`);
  }
}

function checkDraws(match, event, seed, expected) {
  const fail = faultAt(event.version, "draws");
  const found = event.data.draws ?? [];
  if (found.length !== expected.length) fail(`has ${found.length} draws instead of ${expected.length}`);
  if (found.length === 0 && event.data.draws && event.type !== "match_started") {
    fail("has an empty list of draws, which must be absent instead");
  }
  if (found.length === 0) return;
  const key = keyOf(seed, match.seats.map((occupant) => occupant.clientSeed));
  expected.forEach(({ label, outcome }, index) => {
    const draw = found[index];
    if (draw.label !== label) fail(`draws ${draw.label} instead of ${label}`);
    const nth = match.drawn[label] ?? 0;
    match.drawn[label] = nth + 1;
    if (outcome && canonical(outcome(words(key, label, nth))) !== canonical(draw.outcome)) {
      fail(`the outcome of ${label} does not follow from the seed`);
    }
  });
}

/** Checks ranks and winners against scores, and scores against parts. Equal scores may have different ranks. */
function checkOutcome(match, event, game) {
  const fail = faultAt(event.version, "outcome");
  const { scores, ranks, winners, breakdown, ...rest } = event.data.outcome;
  const lists = [scores, ranks, breakdown];
  if (Object.keys(rest).length > 0 || !Array.isArray(winners)) {
    fail("must have scores, ranks, winners and breakdown, and nothing else");
  }
  if (!lists.every((list) => Array.isArray(list) && list.length === match.seats.length)) {
    fail("must have an entry for every seat");
  }
  if (![...scores, ...ranks, ...winners].every(isInteger)) fail("must only have integers");
  breakdown.forEach((parts, seat) => {
    const named = ([name, points]) => game.breakdown.includes(name) && isInteger(points);
    if (!isObject(parts) || !Object.entries(parts).every(named)) {
      fail(`the parts of a score must be among ${game.breakdown}, with integers`);
    }
    const sum = Object.values(parts).reduce((total, points) => total + points, 0);
    if (sum !== scores[seat]) fail(`the parts of seat ${seat} add up to ${sum}, not ${scores[seat]}`);
  });
  ranks.forEach((rank, seat) => {
    if (rank !== 1 + ranks.filter((other) => other < rank).length) {
      fail(`rank ${rank} of seat ${seat} does not follow from the number of better seats`);
    }
    const better = scores.findIndex((score, other) => score > scores[seat] && ranks[other] >= rank);
    if (better >= 0) fail(`seat ${seat} must rank below seat ${better}, which has a higher score`);
  });
  const first = ranks.flatMap((rank, seat) => (rank === 1 ? [seat] : []));
  if (canonical(winners) !== canonical(first)) fail(`the winners must be the seats ${first}`);
}

/** Replaces line breaks and control characters, because the text may come from the file. */
const inOneLine = (text) => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd");

/** The line to print for a file, and the exit status. */
function judge(file) {
  let bytes;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    return [`${file}: ${error.message}`, 2];
  }
  try {
    const head = verify(bytes);
    return [`${file}: chain, order, draws, outcome passed, head ${head.version}:${head.hash}`, 0];
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    return [`${file}: version ${fault.version}: ${fault.check}: ${inOneLine(fault.message)}`, 1];
  }
}

process.exitCode = argv.length > 2 ? 0 : 2;
for (const file of argv.slice(2)) {
  const [line, code] = judge(file);
  console.log(line);
  process.exitCode = Math.max(process.exitCode, code);
}
