/** A match as it goes on: its newest version, picture and legal list. It reconnects without losing its place. */
import { batch, signal } from "@preact/signals";
import { command, get, isTransient, OtherPlayer, post, Problem, repeated, Unreachable } from "./api.js";
import { setServerTime } from "./clocks.js";
import { coalesced } from "./coalesced.js";
import { LONGEST_RETRY_MS, RETRY_MS } from "./loaded.js";
import { measured, rest } from "./pace.js";
import { forget, me, session } from "./session.js";
import { follow } from "./stream.js";
import { language } from "./words.js";

/** @import { Action, Decision, End, Hello, Match, MatchEvent, Situation } from "./types.d.ts" */
/** @typedef {{ version: number, at: number, text: string }} Line */
/** @typedef {ReturnType<typeof watch>} Live */

const MOVES = new Set(["action", "default_action", "timer"]);
const DIVERGED = "history-diverged";
/** Ends of a stream after which it is continued. */
const PASSING = new Set(["restart", "max-age", DIVERGED]);
const SHOWN_LINES = 200;
const READ_BACK = 40;
const HIDDEN_MS = 20_000;
/** What a pause before the next attempt may take until the page says why it waits. */
const SILENT_MS = 2_000;
const BETWEEN_PICTURES_MS = { seated: 250, watching: 500 };

/** @param {string} id */
export function watch(id) {
  const path = `/v1/matches/${id}`;
  const closed = new AbortController();
  const { sleep, wake } = pauses();
  let place = { version: 0, head: "" };
  let readAt = 0; // the version at which the match was read when following began
  /** @type {AbortController | null} */
  let stream = null;

  const match = signal(/** @type {Match | null} */ (null));
  const decisions = signal(/** @type {readonly Decision[]} */ ([]));
  const banks = signal(/** @type {readonly number[]} */ ([]));
  /** The legal list. @type {import("@preact/signals").Signal<readonly Action[]>} */
  const actions = signal([]);
  /** A sentence for each of them. @type {import("@preact/signals").Signal<readonly string[]>} */
  const texts = signal([]);
  const lines = signal(/** @type {readonly Line[]} */ ([]));
  const picture = signal("");
  const connection = signal(/** @type {import("./stream.js").Connection | "over"} */ ("connecting"));
  const problem = signal(/** @type {Error | null} */ (null));

  const read = coalesced(async () => {
    const player = me.value;
    const found = await persistently(() => get(path, { signal: closed.signal }));
    if (me.value === player) match.value = found; // else it may not be for who is at this page now
  });
  /** The person acted: the next picture is drawn without a pause. */
  let isHurried = false;
  const draw = coalesced(async () => {
    if (document.hidden) return; // drawn when somebody looks again
    const player = me.value;
    isHurried = false;
    const options = { accept: "image/svg+xml", signal: closed.signal };
    const drawn = await persistently(() => get(`${path}/board.svg?language=${language.value}`, options));
    if (me.value === player) measured(() => (picture.value = drawn));
    const wait = Math.max(rest(), match.value?.viewer == null ? BETWEEN_PICTURES_MS.watching : BETWEEN_PICTURES_MS.seated);
    if (!isHurried) await sleep(wait);
  });

  /** Repeat what failed for a reason that passes, and say so if it does not pass soon. @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  async function persistently(work) {
    for (let usual = RETRY_MS; ; usual = Math.min(2 * usual, LONGEST_RETRY_MS)) {
      try {
        const done = await work();
        if (connection.value === "offline" && stream !== null) connection.value = "live";
        if (isTransient(problem.value)) problem.value = null;
        return done;
      } catch (error) {
        if (closed.signal.aborted || !isTransient(error)) throw error;
        const wait = (error instanceof Problem && error.retryMs) || usual;
        if (error instanceof Unreachable) connection.value = "offline";
        else if (wait > SILENT_MS) refuse(error);
        await sleep(wait);
      }
    }
  }

  /** @param {Situation} frame */
  const see = (frame) =>
    batch(() => {
      renew(decisions, frame.decisions ?? decisions.value);
      renew(banks, frame.banks ?? banks.value);
      renew(actions, frame.legal_actions ?? []);
      renew(texts, frame.action_texts ?? []);
    });

  /** @param {Hello | MatchEvent | End} frame */
  function take(frame) {
    if (frame.type === "hello") {
      const hello = /** @type {Hello} */ (frame);
      setServerTime(hello.now);
      if (hello.decisions !== undefined) see(hello);
      return false;
    }
    if (frame.type === "end") return ended(/** @type {End} */ (frame));
    const event = /** @type {MatchEvent} */ (frame);
    place = { version: event.version, head: event.hash };
    batch(() => {
      see(event);
      if (event.text) lines.value = [...lines.value.slice(1 - SHOWN_LINES), { version: event.version, at: event.at, text: event.text }];
    });
    if (event.version > readAt) {
      if (event.by === `seat:${match.value?.viewer}`) {
        isHurried = true;
        wake();
      }
      draw().catch(refuse);
      if (!MOVES.has(event.type)) read().catch(refuse);
    }
    return false;
  }

  /** Whether the stream is over for good. @param {End} end */
  function ended(end) {
    if (PASSING.has(end.reason)) return false; // then the next connection says more
    if (end.reason === "token-revoked" && session.value !== null) forget(session.value.token, { refused: true });
    connection.value = "over";
    read().catch(refuse);
    return true;
  }

  /** @param {unknown} error */
  function refuse(error) {
    if (closed.signal.aborted || error instanceof OtherPlayer) return; // for another player, all is read anew
    problem.value = error instanceof Error ? error : new Error(String(error));
  }

  const address = () =>
    `${path}/events?include=decisions,legal_actions,texts&after=${place.version}${place.head && `&head=${place.head.slice(0, 16)}`}`;

  /** Follow the match from the place that is known. */
  function resume() {
    if (stream !== null || closed.signal.aborted || connection.value === "over") return;
    const mine = (stream = new AbortController());
    const options = { signal: AbortSignal.any([mine.signal, closed.signal]), onConnection: note };
    follow(address, take, options)
      .catch(async (error) => {
        // The store lost events that were seen here: read everything anew, and say so.
        if (error instanceof Problem && error.code === DIVERGED) await start();
        refuse(error);
      })
      .finally(() => {
        if (stream === mine) stream = null;
      });
  }

  /** @param {import("./stream.js").Connection} state @param {Problem} [why] */
  function note(state, why) {
    if (why !== undefined) refuse(why);
    else if (state === "live" && isTransient(problem.value)) problem.value = null;
    if (connection.value === "offline" && state === "live") {
      read().catch(refuse);
      draw().catch(refuse);
    }
    connection.value = state;
  }

  /** Read everything anew. @param {{ forget?: boolean }} [options] `forget`: what is shown may not be for this viewer */
  async function start({ forget: isOther = false } = {}) {
    stream?.abort();
    stream = null;
    wake();
    batch(() => {
      if (isOther) {
        match.value = null;
        picture.value = "";
      }
      problem.value = null;
      lines.value = [];
      see({ decisions: [], banks: [] });
      connection.value = "connecting";
    });
    try {
      await read();
      readAt = match.value?.version ?? 0;
      place = { version: Math.max(0, readAt - READ_BACK), head: "" };
      resume();
      await draw();
    } catch (error) {
      refuse(error);
    }
  }

  // A hidden tab closes its stream after a while, because a browser opens only six connections to a host.
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let hiding;
  document.addEventListener(
    "visibilitychange",
    () => {
      clearTimeout(hiding);
      if (!document.hidden) {
        resume();
        draw().catch(refuse);
      } else hiding = setTimeout(() => { stream?.abort(); stream = null; }, HIDDEN_MS);
    },
    { signal: closed.signal },
  );
  start();

  return {
    id, match, decisions, banks, actions, texts, lines, picture, connection, problem, start,
    close() {
      closed.abort();
      wake();
    },
    /** Send an action for an open decision. @param {Action} action @param {Decision | undefined} decision */
    async act(action, decision) {
      await command(`${path}/actions`, { action, ...(decision && { decision: decision.id }) });
    },
    /** A command about seats, such as `leave`; then the match is read again. @param {string} name @param {object} [body] */
    async change(name, body = {}) {
      const player = me.value;
      const changed = await command(`${path}/${name}`, body);
      if (me.value === player) match.value = changed;
      start();
    },
    /** Play once more: the id of the new match. @returns {Promise<string>} */
    rematch: async () => (await repeated(() => post(`${path}/rematch`))).id,
  };
}

/**
 * Change a value unless it is the same: in real time most events leave a seat's legal list as it is, and then nothing of it is
 * rendered again.
 * @template T @param {import("@preact/signals").Signal<T>} known @param {T} value
 */
function renew(known, value) {
  if (JSON.stringify(known.value) !== JSON.stringify(value)) known.value = value;
}

/** Pauses that can be ended early, all at once. */
function pauses() {
  /** @type {Set<() => void>} */
  const open = new Set();
  return {
    /** @param {number} ms @returns {Promise<void>} */
    sleep: (ms) =>
      new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer);
          open.delete(end);
          resolve();
        };
        const timer = setTimeout(end, ms);
        open.add(end);
      }),
    wake: () => [...open].forEach((end) => end()),
  };
}
