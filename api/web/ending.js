/** The end of a match: the result with its parts, the rematch, the replay, and the match as a file. */
import { BASE } from "./api.js";
import { readGame, textOf } from "./games.js";
import { html } from "./html.js";
import { goTo } from "./joining.js";
import { useLoaded } from "./loaded.js";
import { RatingChange, useRatingChanges } from "./ratings.js";
import { SeatMark } from "./seat-mark.js";
import { Holder } from "./seats.js";
import { me } from "./session.js";
import { Failure, useTask } from "./task.js";
import { t } from "./words.js";

/** @import { Match, Outcome } from "./types.d.ts" */
/** @import { Live } from "./live.js" */

/** @param {{ live: Live, match: Match }} props */
export function Ending({ live, match }) {
  const task = useTask();
  const player = me.value;
  const hadSeat = match.seats.some((seat) => player !== undefined && (seat.player === player || seat.former === player));
  const playAgain = () => task.run(() => goTo(live.rematch));
  return html`<section class="card" aria-labelledby="ending">
    <h2 id="ending">${match.outcome === null ? t("aborted_match") : t("result")}</h2>
    ${match.outcome !== null && html`<${Result} match=${match} outcome=${match.outcome} />`}
    <${Failure} task=${task} />
    <div class="row">
      ${hadSeat && match.outcome !== null && html`<button type="button" class="primary" aria-disabled=${task.isBusy.value} onClick=${playAgain}>${t("rematch")}</button>`}
      <a class="button" href=${`#/replay/${match.id}`}>${t("replay")}</a>
      ${!match.private && html`<a class="button" href=${`${BASE}/v1/matches/${match.id}/export`} download>${t("match_file")}</a>`}
    </div>
  </section>`;
}

/** @param {{ match: Match, outcome: Outcome }} props */
function Result({ match, outcome }) {
  const { value: game } = useLoaded(() => readGame(match.game), [match.game]); // until it is there, parts have their ids as names
  const changes = useRatingChanges(match);
  const order = match.seats.map((seat) => seat.seat).sort((one, other) => (outcome.ranks[one] ?? 0) - (outcome.ranks[other] ?? 0));
  return html`<ol class="results">
    ${order.map((number) => {
      const seat = match.seats[number];
      const parts = Object.entries(outcome.breakdown[number] ?? {});
      return html`<li key=${number} class=${outcome.winners.includes(number) ? "result won" : "result"}>
        <span class="rank"><span class="visually-hidden">${t("rank")} </span>${outcome.ranks[number]}.</span>
        <${SeatMark} seat=${number} />
        ${seat && html`<${Holder} seat=${seat} />`}
        <strong class="score">${outcome.scores[number]}<span class="visually-hidden"> ${t("points")}</span></strong>
        <dl>
          ${parts.map(([part, points]) => html`<div key=${part}><dt>${textOf(game, `breakdown.${part}`) ?? part}</dt><dd>${points}</dd></div>`)}
        </dl>
        <${RatingChange} match=${changes.get(seat?.former ?? seat?.player ?? "")} />
      </li>`;
    })}
  </ol>`;
}
