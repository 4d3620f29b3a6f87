/** Times by the clock of the server: how long a seat has left, and when a decision opens. */
import { signal } from "@preact/signals";
import { html } from "./html.js";
import { t } from "./words.js";

/** @import { Decision } from "./types.d.ts" */

const TICK_MS = 200;
const DAY_S = 86_400;
const SHOWN_DAYS = 2;
const HURRY_MS = 10_000;

/** Server time minus the age of this page, which goes on evenly when the clock of this machine is set; in milliseconds. */
let offset = Date.now() - performance.now();

/** The server's time now, in milliseconds, for what is drawn. It moves only while something is shown that reads it. */
const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = serverNow();
}, TICK_MS);

export const serverNow = () => performance.now() + offset;

/** @param {number} serverMs the `now` of a frame that just arrived */
export function setServerTime(serverMs) {
  offset = serverMs - performance.now();
  now.value = serverMs;
}

/** Whether a decision is open already. @param {Decision} decision */
export const isOpen = (decision) => decision.opens_at <= now.value;

/** @param {number} ms */
export function duration(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const two = (/** @type {number} */ part) => String(part).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (seconds >= SHOWN_DAYS * DAY_S) {
    const count = Math.floor(seconds / DAY_S);
    return hours % 24 === 0 ? t("days", { count }) : t("days_hours", { count, hours: hours % 24 });
  }
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/**
 * The time left of one seat.
 * @param {{ decision: Decision | undefined, bank: number | undefined }} props `bank`: milliseconds that the seat has, or had
 *   when its decision opened
 */
export function SeatClock({ decision, bank }) {
  if (decision !== undefined && !isOpen(decision)) {
    return html`<span class="clock">${t("opens_in", { time: duration(decision.opens_at - now.value) })}</span>`;
  }
  if (decision?.deadline != null) return html`<${Countdown} until=${decision.deadline} />`;
  return bank === undefined ? null : html`<span class="clock">${duration(bank)}</span>`;
}

/** @param {{ until: number }} props a server time in milliseconds */
export function Countdown({ until }) {
  const left = until - now.value;
  return html`<span class=${left < HURRY_MS ? "clock running hurry" : "clock running"} role="timer">${duration(left)}</span>`;
}
