/** What a player can do about the match itself while it runs: leave it, take a seat back, ask to abort it. */
import { html } from "./html.js";
import { me } from "./session.js";
import { Sure } from "./sure.js";
import { Failure, useTask } from "./task.js";
import { t } from "./words.js";

/** @import { Match } from "./types.d.ts" */
/** @import { Live } from "./live.js" */

/** @param {{ live: Live, match: Match }} props */
export function Stay({ live, match }) {
  const task = useTask();
  const player = me.value;
  const mine = match.seats.find((seat) => seat.player === player && !seat.resigned);
  const lost = match.seats.find((seat) => seat.former !== null && seat.former === player);
  /** @param {string} name */
  const change = (name) => task.run(() => live.change(name));
  if (player === undefined || (mine === undefined && lost === undefined)) return null;
  const isBusy = task.isBusy.value;
  const hasAsked = mine !== undefined && match.abort_asked.includes(mine.seat);
  return html`<section class="card" aria-label=${t("this_match")}>
    <${Failure} task=${task} />
    ${match.abort_asked.length > 0 && html`<p class="notice">${t("abort_asked")}</p>`}
    <div class="row">
      ${lost !== undefined && html`<button type="button" class="primary" aria-disabled=${isBusy} onClick=${() => change("return")}>${t("take_seat_back")}</button>`}
      ${mine !== undefined && !hasAsked && html`<button type="button" class="plain" aria-disabled=${isBusy} onClick=${() => change("abort")}>${t("ask_abort")}</button>`}
      ${mine !== undefined &&
      html`<${Sure} label=${t("leave")} why=${t("leave_why")} yes=${t("leave_now")} no=${t("stay")} isBusy=${isBusy} act=${() => change("leave")} />`}
    </div>
  </section>`;
}
