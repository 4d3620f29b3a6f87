/** Follows a stream of JSON lines. A broken stream is continued where it broke. */
import { Problem, record, send } from "./api.js";
import { catchUp, me, session } from "./session.js";

/** @typedef {"connecting" | "live" | "offline"} Connection */

const NDJSON = "application/x-ndjson";
const SILENCE_MS = 15_000; // three heartbeats of the service
const WAITS_MS = [0, 500, 1000, 2000, 4000];
/** If frames came for this long, the connection was a good one, and the next one is made at once. */
const STEADY_MS = 5_000;

/**
 * @param {() => string} address the path, with the place from which to continue; called for each connection
 * @param {(frame: any) => boolean} take takes a frame; returns whether it was the last one
 * @param {{ signal: AbortSignal, onConnection: (connection: Connection, why?: Problem) => void }} options
 *   `why`: the service refuses the stream for now, for the reason that it gives
 * @returns {Promise<void>} when the last frame was taken, or `signal` is aborted
 * @throws {Problem} if the service refuses the stream for good
 */
export async function follow(address, take, { signal, onConnection }) {
  onConnection("connecting");
  for (let failures = 0; !signal.aborted; failures += 1) {
    /** @type {Problem | undefined} */
    let why;
    let goodFrom = Infinity;
    try {
      const isOver = await connect(address(), signal, (frame) => {
        goodFrom = Math.min(goodFrom, performance.now() + STEADY_MS);
        onConnection("live");
        return take(frame);
      });
      if (isOver) return;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Problem) {
        if (!error.isTransient) throw error;
        if (error.retryMs !== null) why = error;
      }
    }
    if (performance.now() > goodFrom) failures = 0;
    if (failures > 0 || why !== undefined) onConnection("offline", why);
    const next = WAITS_MS[Math.min(failures, WAITS_MS.length - 1)] ?? 0;
    await pause(Math.max(why?.retryMs ?? 0, next * (0.5 + Math.random())), signal);
  }
}

/**
 * One connection. Resolves to whether the last frame was taken.
 * @param {string} path @param {AbortSignal} signal @param {(frame: any) => boolean} take
 */
async function connect(path, signal, take) {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  const both = AbortSignal.any([signal, silence.signal]);
  addEventListener("offline", () => silence.abort(), { signal: both });
  const token = session.value?.token;
  const player = me.value;
  try {
    const response = await send("GET", path, { accept: NDJSON, signal: both });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; reader !== undefined; ) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) return false; // aborted: what just arrived may not be for who is at this page now
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      const lines = (rest + value).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (line === "") continue;
        const frame = JSON.parse(line);
        if (frame.type === "end" && frame.reason === "token-revoked" && isRenewed(token)) return false;
        record({ kind: "frame", method: "GET", path, body: undefined, key: null, status: null, ms: 0, value: frame }, player);
        if (take(frame)) return true;
      }
    }
    return false;
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

/** Whether this browser has another token by now. @param {string | undefined} token */
function isRenewed(token) {
  catchUp();
  return session.value?.token !== token;
}

/**
 * Wait, but no longer than until the network is back.
 * @param {number} ms @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function pause(ms, signal) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener("online", done);
    signal.addEventListener("abort", done);
  });
}
