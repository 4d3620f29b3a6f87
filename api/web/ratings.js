/** Ratings: their uncertainty, and what a rated match did to them. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "./api.js";
import { html } from "./html.js";
import { t } from "./words.js";

/** @import { Match, RatedMatch, Rating } from "./types.d.ts" */

/** A worker rates a match within seconds after its end; after a longer time this page asks no more. */
const WAITS_MS = [0, 1_000, 2_000, 4_000, 8_000, 16_000];
/** The newest rated matches of a player among which the match is looked for. */
const SEARCHED = 50;
/** Points of a rating for one unit of skill, which the API gives in millionths. */
const POINTS = 40;
const MILLION = 1_000_000;
/** How many different opponents a place on a leaderboard needs, and its greatest uncertainty, in points of a rating. */
export const PLACE = { opponents: 10, limit: 280 };
/** How many matches of the same players count on one day. */
const COUNTED_A_DAY = 10;

/** The uncertainty of a rating, in its points. @param {Rating} rating */
export const uncertainty = ({ sigma }) => Math.round((POINTS * sigma) / MILLION);

/**
 * The changes by player, as soon as the match is rated. The player who had a seat first is rated.
 * @param {Match} match @returns {ReadonlyMap<string, RatedMatch>}
 */
export function useRatingChanges(match) {
  const found = useSignal(/** @type {ReadonlyMap<string, RatedMatch>} */ (new Map()));
  const isAwaited = match.rated && match.outcome !== null;
  useEffect(() => {
    if (!isAwaited) return;
    const players = match.seats.flatMap((seat) => seat.former ?? seat.player ?? []);
    const gone = new AbortController();
    const look = async () => {
      for (const wait of WAITS_MS) {
        await new Promise((resolve) => setTimeout(resolve, wait));
        const pages = await Promise.all(
          players.map((player) => get(`/v1/players/${player}/ratings?limit=${SEARCHED}`, { signal: gone.signal })),
        );
        /** @type {[string, RatedMatch | undefined][]} */
        const changes = pages.map((page, index) => [players[index] ?? "", page.matches.find((/** @type {RatedMatch} */ one) => one.match === match.id)]);
        found.value = new Map(/** @type {[string, RatedMatch][]} */ (changes.filter(([, change]) => change !== undefined)));
        if (found.value.size > 0) return; // one entry has all seats
      }
    };
    look().catch(() => {}); // the pages of the players show it too
    return () => gone.abort();
  }, [match.id, isAwaited]);
  return found.value;
}

/** The rating before and after a match. @param {{ match: RatedMatch | undefined }} props */
export function RatingChange({ match }) {
  if (match === undefined) return null;
  const { before, after, counted } = match;
  const difference = after.rating - before.rating;
  return html`<span class="rating-change">
    ${t("rating_change", { before: before.rating, after: after.rating })}${" "}
    <strong class=${difference < 0 ? "worse" : "better"}>${difference < 0 ? "−" : "+"}${Math.abs(difference)}</strong>
    ${!counted && html`<span class="soft"> ${t("not_counted", { times: COUNTED_A_DAY })}</span>`}
  </span>`;
}
