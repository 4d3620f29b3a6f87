/** The seats of a match: who has them, whose turn it is, and the time that each has left. */
import { SeatClock } from "./clocks.js";
import { html } from "./html.js";
import { SeatMark } from "./seat-mark.js";
import { me } from "./session.js";
import { t } from "./words.js";

/** @import { Match, Seat } from "./types.d.ts" */
/** @import { Live } from "./live.js" */

/** A name that leads to the page of the player; bots of the service have none. @param {{ player: string, name: string | null, kind: string | null }} props */
export const PlayerName = ({ player, name, kind }) =>
  html`${kind === "bot"
    ? html`<span class="name">${name}</span>`
    : html`<a class="name" href=${`#/player/${player}`}>${name ?? t("someone")}</a>`}
  ${kind !== "human" && html`<span class="tag">${t("bot")}</span>`}`;

/** The name of a seat's player, and what else matters about it. @param {{ seat: Seat }} props */
export function Holder({ seat }) {
  if (seat.player === null) return html`<span class="soft">${t("free_seat")}</span>`;
  const isMine = seat.player === me.value;
  return html`<span class="holder">
    <${PlayerName} player=${seat.player} name=${seat.name} kind=${seat.kind} />
    ${seat.rating !== null && html`<span class="rating" title=${t("rating")}><span class="visually-hidden">${t("rating")} </span>${seat.rating}</span>`}
    ${isMine && html`<span class="tag">${t("you")}</span>`}
    ${seat.resigned && html`<span class="tag">${t("left")}</span>`}
    ${seat.former_name !== null && html`<span class="soft">${t("for_player", { name: seat.former_name })}</span>`}
  </span>`;
}

/** @param {{ live: Live, match: Match }} props */
export function Seats({ live, match }) {
  const [decisions, banks] = [live.decisions.value, live.banks.value];
  // If all seats may act at once, marking all of them says nothing.
  const isMarked = decisions.length > 0 && match.seats.some((seat) => decisions.every((one) => one.seat !== seat.seat));
  return html`<section class="card" aria-labelledby="seats">
    <h2 id="seats" class="small">${t("seats")}</h2>
    <ul class="seats">
      ${match.seats.map((seat) => {
        const decision = decisions.find((one) => one.seat === seat.seat);
        return html`<li key=${seat.seat} class=${isMarked && decision !== undefined ? "seat to-move" : "seat"}>
          <${SeatMark} seat=${seat.seat} />
          <span class="visually-hidden">${t("seat_number", { seat: seat.seat })}</span>
          <${Holder} seat=${seat} />
          ${decision !== undefined && html`<span class="visually-hidden">${t("to_move")}</span>`}
          <${SeatClock} decision=${decision} bank=${banks[seat.seat]} />
        </li>`;
      })}
    </ul>
  </section>`;
}
