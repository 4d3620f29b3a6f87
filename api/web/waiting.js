/** A match that waits for players: who sits where, joining, bots by click, and the link for others. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { needPlayer } from "./account.js";
import { Copy } from "./copy.js";
import { games, readGames } from "./games.js";
import { titleOfBot, useHosted } from "./hosted.js";
import { html } from "./html.js";
import { whyNotJoined } from "./joining.js";
import { useLoaded } from "./loaded.js";
import { More } from "./pages.js";
import { SeatMark } from "./seat-mark.js";
import { Holder } from "./seats.js";
import { me } from "./session.js";
import { Fault, useTask } from "./task.js";
import { t } from "./words.js";

/** @import { Match, PublicBot, Seat } from "./types.d.ts" */
/** @import { Live } from "./live.js" */

/** @param {{ live: Live, match: Match }} props */
export function Waiting({ live, match }) {
  const task = useTask();
  const { fault } = useLoaded(readGames, []);
  useEffect(() => void (task.problem.value ??= whyNotJoined(match.id) ?? null), []);
  const { hosted, pages } = useHosted(match.game);
  const player = me.value;
  const isCreator = match.creator === player;
  const isSeated = match.seats.some((seat) => seat.player !== null && seat.player === player);
  const isBusy = task.isBusy.value;
  const isFull = match.seats.every((seat) => seat.player !== null);

  /** @param {string} name @param {object} [body] */
  const change = (name, body) =>
    task.run(async () => {
      if (await needPlayer()) await live.change(name, body);
    });
  const address = new URL(document.baseURI);
  address.hash = `#/match/${match.id}${match.join_code ? `?code=${encodeURIComponent(match.join_code)}` : ""}`;
  return html`<section class="card" aria-labelledby="waiting">
    <h2 id="waiting">${t("waits_for_players")}</h2>
    <${Fault} fault=${task.problem.value ?? fault} />
    <ul class="seats">
      ${match.seats.map(
        (seat) => html`<li key=${seat.seat} class="seat">
          <${SeatMark} seat=${seat.seat} /><${Holder} seat=${seat} />
          ${isCreator && html`<${SeatMenu} seat=${seat} match=${match} isMe=${seat.player === player} hosted=${hosted} isBusy=${isBusy} change=${change} />`}
        </li>`,
      )}
    </ul>
    ${isCreator && !isFull && html`<${More} pages=${pages} label=${t("more_bots")} />`}
    <div class="row">
      ${!isSeated && !isFull && html`<button type="button" class="primary" aria-disabled=${isBusy} onClick=${() => change("seats", { ...(match.join_code && { join_code: match.join_code }) })}>${t("join")}</button>`}
      ${isCreator && isFull && match.manual_start && html`<button type="button" class="primary" aria-disabled=${isBusy} onClick=${() => change("start")}>${t("start")}</button>`}
      ${(isSeated || isCreator) && html`<button type="button" class="plain" aria-disabled=${isBusy} onClick=${() => change("leave", { only: "open" })}>${t("leave")}</button>`}
    </div>
    <label><span>${match.private ? t("private_link") : t("public_link")}</span>
      <input readonly value=${address.href} onFocus=${(/** @type {any} */ event) => event.target.select()} />
    </label>
    <${Copy} text=${address.href} label=${t("copy")} />
  </section>`;
}

/**
 * What the creator can do with a seat.
 * @param {{ seat: Seat, match: Match, isMe: boolean, hosted: readonly PublicBot[], isBusy: boolean, change: (name: string, body: object) => Promise<void> }} props
 */
function SeatMenu({ seat, match, isMe, hosted, isBusy, change }) {
  const chosen = useSignal(0);
  if (isMe) return null;
  if (seat.player !== null) {
    return html`<button type="button" class="chip" aria-disabled=${isBusy} onClick=${() => change("free", { seat: seat.seat })}>${t("free")}</button>`;
  }
  const bots = games.value.find((game) => game.id === match.game)?.bots ?? [];
  /** @param {string} bot its name or id @param {string} name */
  const add = (bot, name) =>
    html`<button type="button" class="chip" key=${bot} aria-disabled=${isBusy} onClick=${() => change("bots", { bot, seat: seat.seat })}>${t("add_bot", { name })}</button>`;
  const one = hosted[chosen.value];
  return html`<span class="row">
    ${bots.map((bot) => add(bot, bot))}
    ${one !== undefined &&
    html`<select aria-label=${t("filter_bots")} value=${chosen.value} onChange=${(/** @type {any} */ event) => (chosen.value = event.target.selectedIndex)}>
        ${hosted.map((bot, index) => html`<option key=${bot.id} value=${index}>${titleOfBot(bot)}</option>`)}
      </select>
      ${add(one.id, one.name)}`}
  </span>`;
}
