// Plays matches on a service, many at once. It may be stopped at any time: started again, it goes on with its matches.

import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { Client, NoService, Refused } from "./client.mjs";
import { resolved } from "./patterns.mjs";
import { choose } from "./strategy.mjs";

const REFUSED = 1; // exit codes
const WRONG_ARGUMENTS = 2;
const UNREACHABLE = 3;
const STOPPED = 130;

// Problems of an action that came too late: there is nothing left to decide.
const CLOSED = [
  "decision-closed", "match-not-running", "match-over", "match-suspended", "not-your-turn", "too-late",
  "not-seated", // the player left the match, or lost the seat, while the bot was thinking
];

const USAGE = `usage: node bot.mjs [--url URL] [--game GAME] [--against BOTS] [--matches N] [--name NAME] [--token-file FILE]

Plays matches on a service, many at once. It may be stopped: started again, it goes on with its matches.

  --url URL          the address of the service (http://127.0.0.1:8080)
  --game GAME        (ape_town)
  --against BOTS     the other seats' bots, separated by commas (random)
  --matches N        how many matches to play, all at once (1)
  --name NAME        the name of the player (Botty)
  --token-file FILE  keeps the player's token (token)`;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function main() {
  process.on("SIGINT", () => exitWith(STOPPED, "Stopped; --matches 0 goes on with the matches that have begun."));
  const given = options();
  try {
    const client = await signedIn(given.url, given.name, given["token-file"]);
    await begin(client, given.game, given.against.split(","), Number(given.matches));
    await play(client);
  } catch (error) {
    if (error instanceof Refused) exitWith(REFUSED, `The service refused: ${error.message}`);
    if (error instanceof NoService) {
      exitWith(UNREACHABLE, `No service answers at ${given.url}: ${error.message}. Is it running?`);
    }
    throw error;
  }
}

function options() {
  try {
    const { values } = parseArgs({
      options: {
        url: { type: "string", default: "http://127.0.0.1:8080" },
        game: { type: "string", default: "ape_town" },
        against: { type: "string", default: "random" },
        matches: { type: "string", default: "1" },
        name: { type: "string", default: "Botty" },
        "token-file": { type: "string", default: "token" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) {
      console.log(USAGE);
      process.exit(0);
    }
    if (!isAddress(values.url)) throw new Error(`--url ${values.url}: give an address such as http://127.0.0.1:8080`);
    if (!/^\d+$/.test(values.matches)) throw new Error("--matches: give a number from 0");
    return values;
  } catch (error) {
    return exitWith(WRONG_ARGUMENTS, `${error.message}\nSee node bot.mjs --help.`);
  }
}

// Whether a URL is one of HTTP, with a host.
function isAddress(url) {
  return /^https?:\/\/[^/]/.test(url) && URL.canParse(url);
}

function exitWith(code, sentence) {
  console.error(sentence);
  process.exit(code);
}

// The client of the player whose token is in the file, or of a new player.
async function signedIn(url, name, tokenFile) {
  if (existsSync(tokenFile)) {
    const token = orExit(`The token cannot be read from ${tokenFile}`, () => readFileSync(tokenFile, "utf8").trim());
    if (!/^[!-~]+$/.test(token)) { // it is secret: do not print it
      exitWith(WRONG_ARGUMENTS, `${tokenFile} holds no token; name another file with --token-file.`);
    }
    const client = new Client(url, token);
    await client.check();
    return client;
  }
  const cannot = `The token cannot be kept in ${tokenFile}`;
  const folder = dirname(tokenFile);
  if (!existsSync(folder)) exitWith(WRONG_ARGUMENTS, `${cannot}: there is no folder ${folder}.`);
  const client = new Client(url);
  await client.signUp(name);
  orExit(cannot, () => writeFileSync(tokenFile, client.token, { mode: 0o600, flag: "wx" }));
  return client;
}

// The result of work with a file, or the end of the program with a sentence.
function orExit(sentence, work) {
  try {
    return work();
  } catch (error) {
    return exitWith(WRONG_ARGUMENTS, `${sentence}: ${error.message}.`);
  }
}

// Create matches and take a seat in each; the others' bots have the other seats.
async function begin(client, game, bots, matches) {
  for (let number = 0; number < matches; number += 1) {
    const wanted = { game, seats: bots.length + 1, bots };
    const match = (await client.post("/matches", wanted, randomUUID())).id;
    await client.post(`/matches/${match}/seats`, {}, randomUUID());
    console.log(`${match}: seated`);
  }
}

// Answer every turn of the player's matches, until none of them is left.
export async function play(client, strategy = choose) {
  let running = new Set();
  for await (const frame of client.frames()) {
    if (frame.type === "hello") {
      const matches = frame.matches.filter((match) => !["finished", "aborted"].includes(match.status));
      running = new Set(matches.map((match) => match.id));
    } else if (frame.type === "your_turn") {
      await act(client, strategy, frame);
    } else if (frame.type === "finished") {
      running.delete(frame.match);
      console.log(`${frame.match}: ${result(frame)} ${client.url}/matches/${frame.match}/board.svg`);
    }
    if (running.size === 0) return;
  }
}

// Take a decision. Its id is the key of the command, so that a notice that comes twice does no harm. If the rules refuse
// the action, the strategy has a fault: the refusal is printed, and the first action of the newest list is taken instead.
// Throws Refused if that one is refused too, because otherwise the match would wait for this bot forever.
async function act(client, strategy, { match, seat, decisions, legal_actions: legalActions }) {
  const decision = decisions[0].id;
  const observe = async () => (await client.get(`/matches/${match}`)).observation;
  let action = await strategy({ legalActions, observe, seat, match });
  for (const key of [decision, `${decision}-again`]) {
    try {
      return await send(client, match, action, decision, key);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      console.log(`${match}: refused: ${error.message} The action was ${JSON.stringify(action)}.`);
      if (CLOSED.includes(error.code)) return;
      if (key !== decision) throw error;
    }
    const newest = (await client.get(`/matches/${match}/legal-actions`)).actions;
    if (newest.length === 0) return;
    action = resolved(newest[0]);
  }
}

// Send an action, again if it was too early.
async function send(client, match, action, decision, key) {
  for (;;) {
    try {
      await client.post(`/matches/${match}/actions`, { action, decision }, key);
      return;
    } catch (error) {
      if (error.code !== "too-early") throw error;
      await sleep(error.retryAfterMs);
    }
  }
}

// The end of a match in words.
function result({ outcome, seat, status }) {
  if (!outcome || seat === null) return `${status}.`;
  const { winners, ranks, scores } = outcome;
  const words = !winners.includes(seat) ? "lost" : winners.length === 1 ? "won" : "shared the win";
  return `${words}, rank ${ranks[seat]} of ${ranks.length} with ${scores[seat]} points.`;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main();
