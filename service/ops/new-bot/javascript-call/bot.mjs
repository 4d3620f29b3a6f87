// Answers the calls of a service: each is a POST with a task, and the answer is an action. Ctrl-C stops it.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { faultOf, keyOf } from "./signature.mjs";
import { choose } from "./strategy.mjs";

const [WRONG_ARGUMENTS, STOPPED] = [2, 130]; // exit codes
const MAX_BODY_BYTES = 256 * 1024; // no call has a longer body
const KEPT_ANSWERS = 1_000; // the same call may come again; the answers to so many of the newest calls are remembered
const OPTIONS = {
  host: { type: "string", default: "127.0.0.1" },
  port: { type: "string", default: "8000" },
  "secret-file": { type: "string", default: "secret" },
};

function main() {
  const { host, port, "secret-file": file } = given();
  let key;
  try {
    key = keyOf(readFileSync(file, "utf8").trim());
  } catch { // the secret itself is not printed
    exitWith(WRONG_ARGUMENTS, `${file} has no secret; name another file with --secret-file.`);
  }
  const server = bot(key);
  server.on("error", (error) => exitWith(WRONG_ARGUMENTS, `It cannot listen: ${error.message}.`));
  server.listen(Number(port), host, () => console.log(`The bot waits for calls at http://${host}:${server.address().port}/`));
  process.on("SIGINT", () => exitWith(STOPPED, "Stopped."));
}

function given() {
  try {
    const { values } = parseArgs({ options: OPTIONS });
    if (!/^\d{1,5}$/.test(values.port) || Number(values.port) > 65_535) throw new Error("--port: give a number from 0 to 65535");
    return values;
  } catch (error) {
    return exitWith(WRONG_ARGUMENTS, error.message);
  }
}

function exitWith(code, sentence) {
  console.error(sentence);
  process.exit(code);
}

// A server that answers calls signed with `key`.
export function bot(key, strategy = choose) {
  const answers = new Map();
  return createServer(async (request, response) => {
    const say = (status, content) => {
      const body = content === undefined ? "" : JSON.stringify(content);
      response.writeHead(status, content && { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
      response.end(body);
    };
    try {
      if (request.method !== "POST") return say(405, { error: "a call is a POST" });
      const body = await read(request);
      if (body === null) return say(413, { error: `a call has at most ${MAX_BODY_BYTES} bytes` });
      const fault = faultOf(key, request.headers, body);
      if (fault) return say(401, { error: fault });
      const task = taskOf(body);
      if (task === null) return say(400, { error: "the body is no task" });
      const action = await answer(answers, strategy, task, body);
      return action === null ? say(204) : say(200, { action });
    } catch (error) { // the strategy may throw anything; the service calls once more, and then plays a default
      console.error(error);
      return say(500, { error: "the strategy failed" });
    }
  });
}

// The body of a request; null if it is too long.
async function read(request) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MAX_BODY_BYTES) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

// The task in the body of a call, which may have members that this bot does not know; null if it is none.
function taskOf(body) {
  try {
    const task = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    const isTask = task?.type === "task" && Array.isArray(task.legal_actions) && Number.isInteger(task.seat);
    return isTask && typeof task.match === "string" && typeof task.observation === "object" ? task : null;
  } catch {
    return null;
  }
}

// The action for a task; null to decline. The same call gets the same answer.
async function answer(answers, strategy, { legal_actions: legalActions, observation, seat, match }, body) {
  const call = createHash("sha256").update(body).digest("hex");
  if (!answers.has(call)) {
    answers.set(call, strategy({ legalActions, observe: async () => observation, seat, match }));
    if (answers.size > KEPT_ANSWERS) answers.delete(answers.keys().next().value);
  }
  try {
    return (await answers.get(call)) ?? null;
  } catch (error) {
    answers.delete(call); // the service calls once more
    throw error;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) main();
