/** What happened, in words: a list to read, and a polite announcement of what is new. */
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { html } from "./html.js";
import { t } from "./words.js";

/** @import { Live } from "./live.js" */

const QUIET_MS = 1_000;
const MOST_ANNOUNCED = 3;

/** @param {{ live: Live }} props */
export function Log({ live }) {
  const list = useRef(/** @type {HTMLOListElement | null} */ (null));
  const lines = live.lines.value;
  useEffect(() => {
    const element = list.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, [lines]);
  return html`<section class="card log" aria-labelledby="log">
    <h2 id="log" class="small">${t("log")}</h2>
    <ol ref=${list} tabindex="0" aria-labelledby="log">
      ${lines.map((line) => html`<li key=${line.version}><span class="ply" aria-hidden="true">${line.version}</span>${line.text}</li>`)}
    </ol>
    <${Announcer} live=${live} />
  </section>`;
}

/** Reads new lines out. Of many at once, only the newest are read. @param {{ live: Live }} props */
function Announcer({ live }) {
  const text = useSignal("");
  const read = useRef(/** @type {number | null} */ (null));
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  useSignalEffect(() => {
    const lines = live.lines.value;
    const newest = lines.at(-1)?.version;
    if (newest === undefined) return;
    if (read.current === null) {
      read.current = Math.max(newest, live.match.peek()?.version ?? 0);
      return;
    }
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      const fresh = live.lines.peek().filter((line) => line.version > (read.current ?? 0));
      if (fresh.length === 0) return;
      read.current = fresh.at(-1)?.version ?? null;
      text.value = fresh.slice(-MOST_ANNOUNCED).map((line) => line.text).join(" ");
    }, QUIET_MS);
  });
  return html`<p class="visually-hidden" aria-live="polite">${text.value}</p>`;
}
