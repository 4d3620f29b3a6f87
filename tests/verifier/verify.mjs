// Checks match files in another language, as service/VERIFYING.md tells it: `node verify.mjs FILE…`.
//
// Four checks that need no rules: the chain; the order of the events; the draws against the revealed seed; the outcome
// against itself. It says nothing of whether the rules allow the actions and give the effects. One line a file: what
// passed, with the head, or the first fault. Exit 0, 1 if there was a fault, 2 if a file cannot be read.

import { readFileSync } from "node:fs";
import { argv } from "node:process";
import { canonical, Fault, faultAt, follow, isHex, isInteger, isObject, sha256 } from "./chain.mjs";
import { keyOf, words } from "./draws.mjs";
import { GAMES } from "./games.mjs";
import { begin, checkPlace, step } from "./order.mjs";

/** The head of a match without fault. */
function verify(bytes) {
  const { first, events, head } = follow(bytes);
  const seed = revealed(events);
  const game = Object.hasOwn(GAMES, first.game) ? GAMES[first.game] : undefined;
  if (game?.ruleset !== first.ruleset) faultAt(0, "order")(`ruleset ${first.ruleset} of ${first.game} is not known`);
  const match = begin(first, events[0], game);
  if (sha256(Buffer.from(seed, "hex")) !== match.commitment) {
    faultAt(events.length, "draws")("the revealed seed is not the one committed to");
  }
  for (const event of events.slice(1)) {
    checkPlace(match, event);
    checkDraws(match, event, seed, drawn(match, event));
    if (event.type === "match_scored") checkOutcome(match, event, game);
    step(match, event);
  }
  return { version: events.length, hash: head };
}

/** The seed that the last event reveals, and no other. */
function revealed(events) {
  if (events[0]?.type !== "match_created") faultAt(1, "chain")("a match begins with match_created");
  const end = events.find((event) => event.type === "seed_revealed");
  if (end === undefined) faultAt(events.length + 1, "chain")("the file ends before the seed is revealed");
  if (end !== events.at(-1)) faultAt(end.version + 1, "order")("the match was over when its seed was revealed");
  const seed = end.data.server_seed;
  return isHex(64)(seed) ? seed : faultAt(end.version, "draws")("the seed is not 64 hex digits");
}

/** What an event draws. Options and effects are not checked here, but without those of the game it cannot be told. */
function drawn(match, event) {
  try {
    return match.game.draws[event.type]?.(match, event) ?? [];
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return faultAt(event.version, "order")(`the options or effects are not those of the game: ${error.message}`);
  }
}

function checkDraws(match, event, seed, expected) {
  const fail = faultAt(event.version, "draws");
  const found = event.data.draws ?? [];
  if (found.length !== expected.length) fail(`holds ${found.length} draws, not ${expected.length}`);
  if (found.length === 0 && event.data.draws && event.type !== "match_started") fail("holds a list of no draws");
  if (found.length === 0) return;
  const key = keyOf(seed, match.seats.map((sitter) => sitter.clientSeed));
  expected.forEach(({ label, outcome }, place) => {
    const draw = found[place];
    if (draw.label !== label) fail(`draws ${draw.label}, not ${label}`);
    const nth = match.drawn[label] ?? 0;
    match.drawn[label] = nth + 1;
    if (outcome && canonical(outcome(words(key, label, nth))) !== canonical(draw.outcome)) {
      fail(`${label} is not what the seed gives`);
    }
  });
}

/** Ranks and winners against the scores, scores against their parts. A tie may be broken by the rules, or shared. */
function checkOutcome(match, event, game) {
  const fail = faultAt(event.version, "outcome");
  const { scores, ranks, winners, breakdown, ...rest } = event.data.outcome;
  const lists = [scores, ranks, breakdown];
  if (Object.keys(rest).length > 0 || !Array.isArray(winners)) fail("is not scores, ranks, winners and breakdown");
  if (!lists.every((list) => Array.isArray(list) && list.length === match.seats.length)) fail("is not for every seat");
  if (![...scores, ...ranks, ...winners].every(isInteger)) fail("holds what is no integer");
  breakdown.forEach((parts, seat) => {
    const named = ([name, points]) => game.breakdown.includes(name) && isInteger(points);
    if (!isObject(parts) || !Object.entries(parts).every(named)) fail(`the parts of a score are ${game.breakdown}`);
    const sum = Object.values(parts).reduce((total, points) => total + points, 0);
    if (sum !== scores[seat]) fail(`the parts of seat ${seat} make ${sum}, not ${scores[seat]}`);
  });
  ranks.forEach((rank, seat) => {
    if (rank !== 1 + ranks.filter((other) => other < rank).length) fail(`no place ${rank} is left for seat ${seat}`);
    const wronged = scores.findIndex((score, other) => score > scores[seat] && ranks[other] >= rank);
    if (wronged >= 0) fail(`seat ${seat} is not behind seat ${wronged}, which has more`);
  });
  const first = ranks.flatMap((rank, seat) => (rank === 1 ? [seat] : []));
  if (canonical(winners) !== canonical(first)) fail(`the winners are not the seats ${first}`);
}

/** What a file says is told without what ends a line or steers a terminal. */
const inOneLine = (text) => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd");

/** One line about a file, and the exit code that it asks for. */
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
  const [told, code] = judge(file);
  console.log(told);
  process.exitCode = Math.max(process.exitCode, code);
}
