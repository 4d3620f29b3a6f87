/** The leaderboard of a game. */
import { useEffect } from "preact/hooks";
import { games, readGames } from "./games.js";
import { html } from "./html.js";
import { useLoaded } from "./loaded.js";
import { More, usePages } from "./pages.js";
import { PLACE, uncertainty } from "./ratings.js";
import { PlayerName } from "./seats.js";
import { me } from "./session.js";
import { Fault } from "./task.js";
import { t } from "./words.js";

/** @import { Leaderboard } from "./types.d.ts" */

const PAGE = 50;
/** Whom a leaderboard lists; "" for all. */
const KINDS = /** @type {const} */ (["", "human", "hosted"]);

/** @param {{ id: string, query: URLSearchParams }} props */
export function LeaderboardPage({ id, query }) {
  const kind = query.get("kind") ?? "";
  const { fault } = useLoaded(readGames, []);
  const title = games.value.find((game) => game.id === id)?.title;
  return html`<h1 tabindex="-1">${title === undefined ? t("leaderboard") : t("leaderboard_of", { game: title })}</h1>
    <${Fault} fault=${fault} />
    <nav class="row" aria-label=${t("filter_game")}>
      ${games.value.map((game) => html`<a class="button" key=${game.id} href=${address(game.id, kind)} aria-current=${game.id === id ? "page" : undefined}>${game.title}</a>`)}
    </nav>
    <nav class="row" aria-label=${t("kinds")}>
      ${KINDS.map(
        (one) => html`<a class="button" key=${one} href=${address(id, one)} aria-current=${one === kind ? "true" : undefined}>${t(`kind_${one || "all"}`)}</a>`,
      )}
    </nav>
    <${Board} key=${kind} game=${id} kind=${kind} />
    <p class="soft">${t("leaderboard_why", PLACE)}</p>`;
}

/** @param {string} game @param {string} kind */
const address = (game, kind) => `#/leaderboard/${game}${kind && `?kind=${kind}`}`;

/** @param {{ game: string, kind: string }} props */
function Board({ game, kind }) {
  const address = `/v1/games/${game}/leaderboard?${new URLSearchParams({ limit: String(PAGE), ...(kind && { kind }) })}`;
  const pages = usePages(() => address, (page) => /** @type {Leaderboard} */ (page).players);
  useEffect(() => void pages.restart(), []);
  const players = pages.items.value;
  return html`${players?.length === 0 && html`<p>${t("nobody_listed")}</p>`}
    ${players !== null &&
    players.length > 0 &&
    html`<table class="leaders">
      <thead>
        <tr>
          <th scope="col">${t("rank")}</th><th scope="col">${t("player_name")}</th><th scope="col">${t("rating")}</th>
          <th scope="col" class="wide">${t("uncertainty")}</th><th scope="col">${t("results")}</th>
        </tr>
      </thead>
      <tbody>
        ${players.map(
          (one) => html`<tr key=${one.player} class=${one.player === me.value ? "mine" : ""}>
            <td>${one.rank}</td>
            <th scope="row"><${PlayerName} player=${one.player} name=${one.name} kind=${one.kind} /></th>
            <td><strong>${one.rating}</strong></td>
            <td class="wide">± ${uncertainty(one)}</td>
            <td>${one.won} – ${one.shared} – ${one.lost}</td>
          </tr>`,
        )}
      </tbody>
    </table>`}
    <${More} pages=${pages} />`;
}
