// Plays matches on a service, many at once. It may be stopped at any time: started again, it goes on with its matches.

import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { Client, Refused } from "./client.mjs";
import { choose } from "./strategy.mjs";

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function main() {
  const { values: given } = parseArgs({
    options: {
      url: { type: "string", default: "http://127.0.0.1:8080" },
      game: { type: "string", default: "ape_town" },
      against: { type: "string", default: "random" }, // the other seats' bots, separated by commas
      matches: { type: "string", default: "1" }, // how many matches to play, all at once
      name: { type: "string", default: "Botty" },
      "token-file": { type: "string", default: "token" },
    },
  });
  const client = await signedIn(given.url, given.name, given["token-file"]);
  const bots = given.against.split(",");
  for (let number = 0; number < Number(given.matches); number += 1) {
    const wanted = { game: given.game, seats: bots.length + 1, bots };
    const match = (await client.post("/matches", wanted, randomUUID())).id;
    await client.post(`/matches/${match}/seats`, {}, randomUUID());
    console.log(`${match}: seated`);
  }
  await play(client);
}

// The client of the player whose token is in the file, or of a new player.
async function signedIn(url, name, tokenFile) {
  if (existsSync(tokenFile)) return new Client(url, readFileSync(tokenFile, "utf8").trim());
  const client = new Client(url);
  await client.signUp(name);
  writeFileSync(tokenFile, client.token, { mode: 0o600, flag: "wx" });
  return client;
}

// Answer every turn of the player's matches, until none of them is left.
export async function play(client) {
  let running = new Set();
  for await (const frame of client.frames()) {
    if (frame.type === "hello") {
      const matches = frame.matches.filter((match) => !["finished", "aborted"].includes(match.status));
      running = new Set(matches.map((match) => match.id));
    } else if (frame.type === "your_turn") {
      await act(client, frame.match, frame.decisions[0].id, frame.legal_actions);
    } else if (frame.type === "finished") {
      running.delete(frame.match);
      console.log(`${frame.match}: ${frame.status} ${JSON.stringify(frame.outcome)}`);
    }
    if (running.size === 0) return;
  }
}

// Take the decision. The decision is the key of the command, so that a notice that comes twice does no harm.
async function act(client, match, decision, legalActions) {
  const action = await choose(legalActions, async () => (await client.get(`/matches/${match}`)).observation);
  for (;;) {
    try {
      await client.post(`/matches/${match}/actions`, { action, decision }, decision);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.code === "too-early") {
        await sleep(error.retryAfterMs);
        continue;
      }
      console.log(`${match}: refused: ${error.message}`); // for example, because the decision has closed meanwhile
    }
    return;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main();
