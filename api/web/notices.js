/**
 * The player's own matches, kept up to date, in all tabs.
 *
 * One tab follows `/v1/me/stream` and tells the others what changed, because a browser opens only six connections to a host,
 * for all tabs together.
 */
import { computed, effect, signal } from "@preact/signals";
import { get } from "./api.js";
import { setServerTime } from "./clocks.js";
import { coalesced } from "./coalesced.js";
import { me } from "./session.js";
import { follow } from "./stream.js";

/** @import { OwnMatch } from "./types.d.ts" */

const MOST = 50;
/** Notices of one moment are answered by one reading. */
const GATHER_MS = 300;

/** The player's matches that are not over. @type {import("@preact/signals").Signal<readonly OwnMatch[]>} */
export const mine = signal([]);

/** Whether the match waits for the player. @param {OwnMatch} match */
export const isMyTurn = (match) => match.decisions.length > 0;

/** The number of matches that wait for the player. */
export const turns = computed(() => mine.value.filter(isMyTurn).length);

export const readMine = coalesced(async () => {
  const player = me.value;
  if (player === undefined) return;
  await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
  try {
    const { matches } = await get(`/v1/me/matches?active=true&limit=${MOST}`);
    if (me.value === player) mine.value = matches;
  } catch {
    // The next notice, or the next visit of the lobby, reads them again.
  }
});

const others = new BroadcastChannel("moonstone.notices");
others.onmessage = () => readMine();

/** @type {AbortController | null} */
let following = null;

effect(() => {
  const player = me.value;
  following?.abort();
  mine.value = [];
  if (player === undefined) return;
  readMine();
  const { signal } = (following = new AbortController());
  // Without locks (a page without TLS) each tab follows the stream itself.
  const done = navigator.locks?.request("moonstone.notices", { signal }, () => followNotices(signal)) ?? followNotices(signal);
  done.catch(() => {}); // aborted while it waited for the lock, or refused: then the page works without notices
});

/** @param {AbortSignal} signal */
function followNotices(signal) {
  let after = "";
  return follow(
    () => `/v1/me/stream${after && `?after=${after}`}`,
    (frame) => {
      after = frame.cursor;
      if (frame.type === "hello") setServerTime(frame.now);
      if (frame.type === "end") return frame.reason === "token-revoked";
      readMine();
      others.postMessage(frame.type);
      return false;
    },
    { signal, onConnection: () => {} },
  );
}
