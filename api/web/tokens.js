/**
 * The ways to an account, and the token of this browser: it has the scopes that this page needs, and an end that is put off
 * while the page is in use.
 */
import { get, isTransient, post, remove, repeated } from "./api.js";
import { catchUp, forgetPlayer, keep, me, session } from "./session.js";

/** @import { Session } from "./session.js" */

/** What this page needs: `account` is for the page of the account, and for a new token in time. */
const SCOPES = ["watch", "play", "account"];
const DAY_MS = 86_400_000;
const VALID_S = 30 * 86_400;
const LOCK = "moonstone.token";
const CURRENT = "/v1/me/tokens/current";

/** Create a player. @param {string} name @returns {Promise<string>} its recovery code */
export async function signUp(name) {
  const { token, player, recovery_code: code } = await post("/v1/players", { name });
  keep({ token, player });
  await renew();
  return code;
}

/** Get the account back; all its other tokens become invalid. @param {string} code */
export async function recover(code) {
  const { token, player } = await post("/v1/recoveries", { recovery_code: code });
  keep({ token, player });
  await renew();
}

/** Use the account of a token. The token itself is kept only if it may not make one for this browser. @param {string} token */
export async function useToken(token) {
  keep({ token, player: await get("/v1/me", { token }), is_borrowed: true });
  await replace();
}

/** Revoke the token of this browser and forget it, also if the service cannot revoke it now: then it is asked again for a while. */
export async function signOut() {
  const player = me.value;
  if (player === undefined) return;
  await alone(async () => {
    catchUp();
    const token = session.value?.token ?? "";
    try {
      if (me.value === player && !session.value?.is_borrowed) await remove(CURRENT);
    } catch (error) {
      if (isTransient(error)) repeated(() => remove(CURRENT, { token })).catch(() => {});
    } finally {
      forgetPlayer(player);
    }
  });
}

/**
 * Do something with the token while no other tab replaces or revokes it. Without TLS there are no locks: then there may be a
 * token too many.
 * @param {() => Promise<void>} work
 */
const alone = async (work) => void (await (navigator.locks?.request(LOCK, work) ?? work()));

/** Whether this browser made its token more than a day ago, or a sign-up or a recovery made it. */
function isDue() {
  if (session.value === null || session.value.is_borrowed) return false;
  const age = Date.now() - (session.value.made_at ?? 0);
  return age > DAY_MS || age < 0; // the clock of this machine was wrong, now or then
}

/** Replace the token if it is due. One tab does this for all. */
async function renew() {
  await alone(async () => {
    catchUp();
    if (isDue()) await replace();
  });
}

/** Make a new token for this browser, and revoke the one before unless it was borrowed. */
async function replace() {
  const { token: old, is_borrowed: isBorrowed } = /** @type {Session} */ (session.value);
  try {
    const { token } = await post("/v1/me/tokens", { label: thisBrowser(), scopes: SCOPES, expires_in: VALID_S }, { token: old });
    catchUp();
    if (session.value?.token !== old) return await remove(CURRENT, { token }); // signed out meanwhile
    keep({ token, player: session.value.player, made_at: Date.now() });
    if (!isBorrowed) await remove(CURRENT, { token: old });
  } catch {
    // The service did not answer, or the old token may not make others: it stays in use as long as it is valid.
  }
}

/** The browser and its system in a few words, as the label of the token. */
function thisBrowser() {
  const seen = navigator.userAgent;
  const browser = /Firefox|Edg|OPR|Chrome|Safari/.exec(seen)?.[0] ?? "Browser";
  const system = /Android|iPhone|iPad|Windows|Mac OS|Linux/.exec(seen)?.[0];
  return [{ Edg: "Edge", OPR: "Opera" }[browser] ?? browser, ...(system ? [system] : [])].join(", ");
}

/** Keep the token valid while the page is in use: now, and whenever somebody looks at it. */
export function keepValid() {
  const check = () => void (!document.hidden && isDue() && renew());
  document.addEventListener("visibilitychange", check);
  setInterval(check, DAY_MS / 24);
  check();
}
