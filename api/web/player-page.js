/** The page of a player: ratings with their history, rated matches, and public matches. */
import { useEffect } from "preact/hooks";
import { get } from "./api.js";
import { date } from "./dates.js";
import { readGames, titleOfGame } from "./games.js";
import { html } from "./html.js";
import { useLoaded } from "./loaded.js";
import { Row } from "./match-row.js";
import { More, usePages } from "./pages.js";
import { PLACE, RatingChange, uncertainty } from "./ratings.js";
import { Fault } from "./task.js";
import { t } from "./words.js";

/** @import { PlayerPage as Page, PlayerRating, RatedMatch, Summary } from "./types.d.ts" */

const RATED_PAGE = 30;
const PAGE = 50;
const WIDTH = 300;
const HEIGHT = 70;
const EDGE = 5;

/** @param {{ id: string }} props */
export function PlayerPage({ id }) {
  const path = `/v1/players/${id}`;
  const rated = usePages(() => `${path}/ratings?limit=${RATED_PAGE}`, (page) => /** @type {readonly RatedMatch[]} */ (page.matches));
  const matches = usePages(() => `${path}/matches?limit=${PAGE}`, (page) => /** @type {readonly Summary[]} */ (page.matches));
  useEffect(() => {
    rated.restart();
    matches.restart();
  }, []);
  useLoaded(readGames, []); // until it is there, the page shows the games' ids instead of their titles
  const { value: found, fault } = useLoaded(() => /** @type {Promise<Page>} */ (get(path)), []);
  const ratedMatches = rated.items.value ?? [];
  if (found === null) {
    return html`<h1 tabindex="-1">${t("player_page")}</h1>
      ${fault === null ? html`<p role="status" class="soft">${t("loading")}</p>` : html`<${Fault} fault=${fault} />`}`;
  }
  return html`<h1 tabindex="-1">${found.name ?? t("someone")} ${found.kind !== "human" && html`<span class="tag">${t("bot")}</span>`}</h1>
    <section aria-labelledby="ratings">
      <h2 id="ratings">${t("ratings")}</h2>
      ${found.ratings.length === 0 && html`<p class="soft">${t("no_ratings")}</p>`}
      <ul class="games">
        ${found.ratings.map(
          (rating) => html`<li key=${rating.game} class="card"><${InGame} rating=${rating} matches=${ratedMatches.filter((one) => one.game === rating.game)} /></li>`,
        )}
      </ul>
      ${found.ratings.length > 0 && html`<p class="soft">${t("rating_why")}</p>`}
    </section>
    ${ratedMatches.length > 0 &&
    html`<section aria-labelledby="rated-matches">
      <h2 id="rated-matches">${t("rated_matches")}</h2>
      <ul class="matches">
        ${ratedMatches.map(
          (one) => html`<li key=${one.match}>
            <a class="match" href=${`#/replay/${one.match}`}>
              <span class="match-title">${titleOfGame(one.game)}</span>
              <span class="soft">
                ${date(one.rated_at)} · ${t("rank")} ${one.rank}
                ${matches.items.value !== null &&
                html` <${Against} player=${id} id=${one.match} listed=${matches.items.value.find((match) => match.id === one.match)} />`}
              </span>
              <span class="does"><${RatingChange} match=${one} /></span>
            </a>
          </li>`,
        )}
      </ul>
      <${More} pages=${rated} />
    </section>`}
    <section aria-labelledby="public-matches">
      <h2 id="public-matches">${t("public_matches")}</h2>
      ${matches.items.value?.length === 0 && html`<p class="soft">${t("no_matches")}</p>`}
      <ul class="matches">
        ${matches.items.value?.map((match) => html`<li key=${match.id}><${Row} match=${match} /></li>`)}
      </ul>
      <${More} pages=${matches} />
    </section>`;
}

/**
 * The others of a rated match.
 * @param {{ player: string, id: string, listed: Summary | undefined }} props `listed`: the match if it is in the list below
 */
function Against({ player, id, listed }) {
  const match = useLoaded(() => (listed === undefined ? get(`/v1/matches/${id}`) : Promise.resolve(listed)), []);
  const others = (/** @type {Summary | null} */ (match.value)?.seats ?? []).filter((seat) => (seat.former ?? seat.player) !== player);
  const names = others.map((seat) => (seat.former === null ? seat.name : seat.former_name) ?? t("someone"));
  return names.length > 0 && t("against", { names: names.join(", ") });
}

/** The rating in one game. @param {{ rating: PlayerRating, matches: readonly RatedMatch[] }} props `matches`: newest first */
function InGame({ rating, matches }) {
  const { game, rank, opponents, won, shared, lost } = rating;
  const place = rank === null ? t("no_rank", { ...PLACE, met: opponents, uncertainty: uncertainty(rating) }) : t("has_rank", { rank });
  return html`<h3>${titleOfGame(game)}</h3>
    <p class="rating-now"><strong>${rating.rating}</strong> <span class="soft">± ${uncertainty(rating)}</span></p>
    <${History} matches=${matches} />
    <p class="soft">${t("won_shared_lost", { won, shared, lost })}</p>
    <p><a href=${`#/leaderboard/${game}`}>${place}</a></p>`;
}

/** The rating after each match as a small curve. @param {{ matches: readonly RatedMatch[] }} props newest first */
function History({ matches }) {
  const oldest = matches.at(-1);
  if (oldest === undefined) return null;
  const points = [oldest.before.rating, ...matches.map((one) => one.after.rating).reverse()];
  const [least, most] = [Math.min(...points), Math.max(...points)];
  /** @param {number} index */
  const x = (index) => EDGE + (index / (points.length - 1)) * (WIDTH - 2 * EDGE);
  /** @param {number} rating */
  const y = (rating) => HEIGHT - EDGE - ((rating - least) / Math.max(1, most - least)) * (HEIGHT - 2 * EDGE);
  const line = points.map((rating, index) => `${x(index).toFixed(1)},${y(rating).toFixed(1)}`).join(" ");
  const label = t("rating_curve", { count: matches.length, from: points[0] ?? 0, to: points.at(-1) ?? 0, least, most });
  return html`<svg class="rating-curve" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label=${label}>
    <polyline points=${line} />
    <circle cx=${x(points.length - 1)} cy=${y(points.at(-1) ?? 0)} r="4" />
  </svg>`;
}
