// The bot as a program for `moonstone arena`, which plays it without a service: name it "node arena.mjs". It reads one
// JSON object a line from stdin and answers each with one on stdout, as HOSTING-A-BOT.md of Moonstone describes.

import { createInterface } from "node:readline";

import { choose } from "./strategy.mjs";

console.log = console.error; // stdout is only for answers

const reply = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  const { task } = JSON.parse(line);
  if (task) reply(await answer(task));
  else reply({ ready: true }); // the first line, which names the game
}

async function answer({ legal_actions: legalActions, observation, seat, match }) {
  try {
    return { action: await choose({ legalActions, observe: async () => observation, seat, match }) };
  } catch (error) {
    console.error(error);
    const [what, where = ""] = String(error?.stack ?? error).split("\n");
    return { error: `${what} ${where.trim()}` };
  }
}
