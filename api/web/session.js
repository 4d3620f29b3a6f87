/** The player of this browser: its token, kept in localStorage and shared by all tabs. */
import { signal } from "@preact/signals";

/** @import { Player } from "./types.d.ts" */
/** @typedef {{ token: string, player: Player }} Session */

const KEY = "moonstone.session";

/** @type {import("@preact/signals").Signal<Session | null>} */
export const session = signal(read());

/** Whether the service ended the session: it does not accept the token any more. */
export const wasEnded = signal(false);
/** What is stored in place of such a session, so that all tabs say so. */
const REFUSED = "refused";

/** @returns {Session | null} */
function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "null");
    return typeof kept?.token === "string" && typeof kept?.player?.id === "string" ? kept : null;
  } catch {
    return null; // storage is forbidden, or something else wrote there
  }
}

/** @param {Session} made */
export function keep(made) {
  try {
    localStorage.setItem(KEY, JSON.stringify(made));
  } catch {
    // Without storage the session lasts as long as the page.
  }
  wasEnded.value = false;
  session.value = made;
}

/**
 * Forget the token.
 * @param {string} token only if it is still this one: another tab may have signed in meanwhile
 * @param {{ refused?: boolean }} [why] `refused`: the service does not accept the token any more
 */
export function forget(token, { refused = false } = {}) {
  if (session.value?.token !== token) return;
  try {
    if (refused) localStorage.setItem(KEY, JSON.stringify(REFUSED));
    else localStorage.removeItem(KEY);
  } catch {
    // as above
  }
  wasEnded.value = refused;
  session.value = null;
}

addEventListener("storage", (event) => {
  if (event.key !== KEY && event.key !== null) return;
  wasEnded.value = event.newValue === JSON.stringify(REFUSED);
  session.value = read();
});
