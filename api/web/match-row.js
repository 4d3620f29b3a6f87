/** A match in a list: its game and players, and the way to it. */
import { duration } from "./clocks.js";
import { date } from "./dates.js";
import { titleOfGame } from "./games.js";
import { html } from "./html.js";
import { me } from "./session.js";
import { isolated, t } from "./words.js";

/** @import { Seat, Summary } from "./types.d.ts" */

/** @param {Seat} seat */
const nameAndRating = (seat) => isolated(seat.name ?? t("someone")) + (seat.rating === null ? "" : ` (${seat.rating})`);

/** One match of a list. @param {{ match: Summary, note?: unknown }} props */
export function Row({ match, note = null }) {
  const isOver = match.status === "finished" || match.status === "aborted";
  const taken = match.seats.filter((seat) => seat.player !== null);
  const names = taken.map(nameAndRating).join(", ");
  const winners = (match.outcome?.winners ?? []).flatMap((seat) => match.seats[seat] ?? []).map(nameAndRating).join(", ");
  const mySeat = match.seats.some((seat) => seat.player !== null && seat.player === me.value);
  const does = isOver ? t("replay") : match.status === "open" && !mySeat ? t("look_and_join") : mySeat ? t("go_on") : t("watch");
  const facts = [
    names || t("nobody_yet"),
    winners && t("won_by", { names: winners }),
    match.status === "aborted" && t("aborted"),
    match.status === "open" && t("seats_taken", { taken: taken.length, seats: match.seats.length }),
    !isOver && match.clock?.turn_seconds && t("per_turn", { time: duration(match.clock.turn_seconds * 1000) }),
    !isOver && match.clock?.bank_seconds && t("per_seat", { time: duration(match.clock.bank_seconds * 1000) }),
    match.ended_at !== null && date(match.ended_at),
  ];
  return html`<a class="match" href=${isOver ? `#/replay/${match.id}` : `#/match/${match.id}`}>
    <span class="match-title">${titleOfGame(match.game)} ${note} ${match.rated && html`<span class="tag">${t("rated")}</span>`}</span>
    <span class="soft">${facts.filter(Boolean).join(" · ")}</span>
    <span class="does">${does}</span>
  </a>`;
}
