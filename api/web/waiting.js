/** A match that waits for players: who sits where, joining, bots by click, and the link for others. */
import { useEffect } from "preact/hooks";
import { needPlayer } from "./account.js";
import { Copy } from "./copy.js";
import { games, readGames } from "./games.js";
import { html } from "./html.js";
import { whyNotJoined } from "./joining.js";
import { Holder, SeatMark } from "./seats.js";
import { me } from "./session.js";
import { Failure, useTask } from "./task.js";
import { t } from "./words.js";

/** @import { Match, Seat } from "./types.d.ts" */
/** @import { Live } from "./live.js" */

/** @param {{ live: Live, match: Match }} props */
export function Waiting({ live, match }) {
  const task = useTask();
  useEffect(() => {
    task.run(readGames).then(() => (task.problem.value ??= whyNotJoined(match.id) ?? null));
  }, []);
  const player = me.value;
  const isCreator = match.creator === player;
  const isSeated = match.seats.some((seat) => seat.player !== null && seat.player === player);
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
    <${Failure} task=${task} />
    <ul class="seats">
      ${match.seats.map(
        (seat) => html`<li key=${seat.seat} class="seat">
          <${SeatMark} seat=${seat.seat} /><${Holder} seat=${seat} />
          ${isCreator && html`<${SeatMenu} seat=${seat} match=${match} isMe=${seat.player === player} change=${change} />`}
        </li>`,
      )}
    </ul>
    <div class="row">
      ${!isSeated && !isFull && html`<button type="button" class="primary" onClick=${() => change("seats", { ...(match.join_code && { join_code: match.join_code }) })}>${t("join")}</button>`}
      ${isCreator && isFull && match.manual_start && html`<button type="button" class="primary" onClick=${() => change("start")}>${t("start")}</button>`}
      ${(isSeated || isCreator) && html`<button type="button" class="plain" onClick=${() => change("leave", { only: "open" })}>${t("leave")}</button>`}
    </div>
    <label><span>${match.private ? t("private_link") : t("public_link")}</span>
      <input readonly value=${address.href} onFocus=${(/** @type {any} */ event) => event.target.select()} />
    </label>
    <${Copy} text=${address.href} label=${t("copy")} />
  </section>`;
}

/**
 * What the creator can do with a seat.
 * @param {{ seat: Seat, match: Match, isMe: boolean, change: (name: string, body: object) => Promise<void> }} props
 */
function SeatMenu({ seat, match, isMe, change }) {
  if (isMe) return null;
  if (seat.player !== null) {
    return html`<button type="button" class="chip" onClick=${() => change("free", { seat: seat.seat })}>${t("free")}</button>`;
  }
  const bots = games.value.find((game) => game.id === match.game)?.bots ?? [];
  return html`<span class="row">
    ${bots.map(
      (bot) => html`<button type="button" class="chip" key=${bot} onClick=${() => change("bots", { bot, seat: seat.seat })}>${t("add_bot", { name: bot })}</button>`,
    )}
  </span>`;
}
