/** The leaderboard of a game. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "./api.js";
import { games, readGames, titleOfGame } from "./games.js";
import { html } from "./html.js";
import { uncertainty } from "./ratings.js";
import { PlayerName } from "./seats.js";
import { me } from "./session.js";
import { Failure, useTask } from "./task.js";
import { t } from "./words.js";

/** @import { Leader, Leaderboard } from "./types.d.ts" */

const PAGE = 50;
/** Whom a leaderboard lists; "" for all. */
const KINDS = /** @type {const} */ (["", "human", "hosted"]);

/** @param {{ id: string, query: URLSearchParams }} props */
export function LeaderboardPage({ id, query }) {
  const kind = query.get("kind") ?? "";
  const task = useTask();
  useEffect(() => void task.run(readGames), []);
  return html`<h1 tabindex="-1">${t("leaderboard_of", { game: titleOfGame(id) })}</h1>
    <${Failure} task=${task} />
    <nav class="row" aria-label=${t("filter_game")}>
      ${games.value.map((game) => html`<a class="button" key=${game.id} href=${address(game.id, kind)} aria-current=${game.id === id ? "page" : undefined}>${game.title}</a>`)}
    </nav>
    <nav class="row" aria-label=${t("kinds")}>
      ${KINDS.map(
        (one) => html`<a class="button" key=${one} href=${address(id, one)} aria-current=${one === kind ? "true" : undefined}>${t(`kind_${one || "all"}`)}</a>`,
      )}
    </nav>
    <${Board} key=${kind} game=${id} kind=${kind} />
    <p class="soft">${t("leaderboard_why")}</p>`;
}

/** @param {string} game @param {string} kind */
const address = (game, kind) => `#/leaderboard/${game}${kind && `?kind=${kind}`}`;

/** @param {{ game: string, kind: string }} props */
function Board({ game, kind }) {
  const players = useSignal(/** @type {readonly Leader[] | null} */ (null));
  const next = useSignal(/** @type {string | null} */ (null));
  const task = useTask();
  const read = () =>
    task.run(async () => {
      const query = new URLSearchParams({ limit: String(PAGE), ...(kind && { kind }), ...(next.value && { cursor: next.value }) });
      /** @type {Leaderboard} */
      const page = await get(`/v1/games/${encodeURIComponent(game)}/leaderboard?${query}`);
      players.value = [...(players.value ?? []), ...page.players];
      next.value = page.next;
    });
  useEffect(() => void read(), []);
  return html`<${Failure} task=${task} />
    ${players.value?.length === 0 && html`<p>${t("nobody_listed")}</p>`}
    ${players.value !== null &&
    players.value.length > 0 &&
    html`<table class="leaders">
      <thead>
        <tr>
          <th scope="col">${t("rank")}</th><th scope="col">${t("player_name")}</th><th scope="col">${t("rating")}</th>
          <th scope="col" class="wide">${t("uncertainty")}</th><th scope="col">${t("results")}</th>
        </tr>
      </thead>
      <tbody>
        ${players.value.map(
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
    ${next.value !== null && html`<button type="button" class="plain" onClick=${read}>${t("more")}</button>`}`;
}
