/** The player of this browser: its token, kept in localStorage and shared by all tabs. */
import { computed, signal } from "@preact/signals";

/** @import { Player } from "./types.d.ts" */
/**
 * @typedef {object} Session
 * @property {string} token
 * @property {Player} player
 * @property {number} [made_at] when this browser made the token, by its own clock in milliseconds; absent if it did not
 * @property {boolean} [is_borrowed] the token was given by the person, who may use it elsewhere too: it is never revoked here
 */

const KEY = "moonstone.session";

/** @type {import("@preact/signals").Signal<Session | null>} */
export const session = signal(read());

/** The id of the player, which stays the same when the token is renewed. */
export const me = computed(() => session.value?.player.id);

/** What is stored in place of a session that the service ended, so that all tabs say so, also if they are opened later. */
const REFUSED = '"refused"';
/** Whether the service ended the session: it does not accept the token any more. */
export const wasEnded = signal(stored() === REFUSED);

/** What storage has for this browser; null without it, or if storage is forbidden. */
function stored() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** @returns {Session | null} */
function read() {
  try {
    const kept = JSON.parse(stored() ?? "null");
    return typeof kept?.token === "string" && typeof kept?.player?.id === "string" ? kept : null;
  } catch {
    return null; // something else wrote there
  }
}

/** @param {string | null} text null removes it */
function store(text) {
  try {
    if (text === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, text);
  } catch {
    // Without storage the session lasts as long as the page.
  }
}

/** @param {Session} made */
export function keep(made) {
  store(JSON.stringify(made));
  wasEnded.value = false;
  session.value = made;
}

/** Take over what another tab stored, if the news of it has not arrived yet. */
export function catchUp() {
  const kept = read();
  if (kept !== null && kept.token !== session.value?.token) session.value = kept;
}

/**
 * Forget the token.
 * @param {string} token only if it is still this one: another tab may have signed in, or renewed the token
 * @param {{ refused?: boolean }} [why] `refused`: the service does not accept the token any more
 */
export function forget(token, { refused = false } = {}) {
  catchUp();
  if (session.value?.token !== token) return;
  store(refused ? REFUSED : null);
  wasEnded.value = refused;
  session.value = null;
}

/** The person has read that the session was ended: no tab says so any more. */
export function acknowledgeEnd() {
  if (stored() === REFUSED) store(null);
  wasEnded.value = false;
}

addEventListener("storage", (event) => {
  if (event.key !== KEY && event.key !== null) return;
  wasEnded.value = event.newValue === REFUSED;
  session.value = read();
});
