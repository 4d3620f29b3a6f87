/** The lobby: my matches, games to play at once, matches that wait for players, and running ones to watch. */
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { needPlayer } from "./account.js";
import { command, get } from "./api.js";
import { games, readGames } from "./games.js";
import { html } from "./html.js";
import { Row } from "./match-row.js";
import { isMyTurn, mine, readMine } from "./notices.js";
import { t } from "./words.js";

/** @import { GameSummary, OwnMatch, Summary } from "./types.d.ts" */

const REFRESH_MS = 5_000;
const PAGE = 20;
const SPEEDS = ["minutes", "hours", "days"];

export function Lobby() {
  const problem = useSignal(/** @type {Error | null} */ (null));
  useEffect(() => {
    readGames().catch((error) => (problem.value = error));
    readMine();
  }, []);
  return html`
    <h1 tabindex="-1">${t("lobby")}</h1>
    <div role="alert">${problem.value && html`<p class="problem">${problem.value.message}</p>`}</div>
    ${mine.value.length > 0 && html`<${Mine} />`}
    <${Games} />
    <${Matches} status="open" title=${t("waiting_matches")} empty=${t("none_waiting")} hasFilters />
    <${Matches} status="running" title=${t("running_matches")} empty=${t("none_running")} />
    <${Matches} status="finished" title=${t("finished_matches")} empty=${t("none_finished")} />
  `;
}

/** The player's own matches, those that wait for the player first. */
function Mine() {
  const sorted = [...mine.value].sort((one, other) => Number(isMyTurn(other)) - Number(isMyTurn(one)));
  return html`<section aria-labelledby="mine">
    <h2 id="mine">${t("my_matches")}</h2>
    <ul class="matches">
      ${sorted.map((match) => html`<li key=${match.id}><${Row} match=${match} note=${noteOf(match)} /></li>`)}
    </ul>
  </section>`;
}

/** @param {OwnMatch} match */
function noteOf(match) {
  if (isMyTurn(match)) return html`<span class="tag turn">${t("your_turn")}</span>`;
  return html`<span class="tag">${t(match.status)}</span>`;
}

/** A card for each game, with which a person plays at once. */
function Games() {
  const problem = useSignal(/** @type {Error | null} */ (null));
  const busy = useSignal(/** @type {string | null} */ (null));
  /** @param {GameSummary} game */
  const playBots = async (game) => {
    if (busy.value !== null || !(await needPlayer())) return;
    busy.value = game.id;
    problem.value = null;
    try {
      const seats = game.seats.find((count) => count > 1) ?? 1;
      const bot = game.bots.find((name) => name !== "random") ?? game.bots[0];
      const { id } = await command("/v1/matches", { game: game.id, seats, bots: Array(seats - 1).fill(bot), private: true });
      await command(`/v1/matches/${id}/seats`);
      location.hash = `#/match/${id}`;
    } catch (error) {
      problem.value = /** @type {Error} */ (error);
    } finally {
      busy.value = null;
    }
  };
  return html`<section aria-labelledby="games">
    <h2 id="games">${t("play")}</h2>
    <div role="alert">${problem.value && html`<p class="problem">${problem.value.message}</p>`}</div>
    <ul class="games">
      ${games.value.map(
        (game) => html`<li class="card game" key=${game.id}>
          <h3>${game.title}</h3>
          <p class="soft">
            ${t("players_of_game", { least: game.seats[0] ?? 1, most: game.seats.at(-1) ?? 1 })} ·${" "}
            <a href=${`#/rules/${game.id}`} aria-label=${t("rules_of", { game: game.title })}>${t("rules")}</a> ·${" "}
            <a href=${`#/leaderboard/${game.id}`} aria-label=${t("leaderboard_of", { game: game.title })}>${t("leaderboard")}</a>
          </p>
          <div class="row">
            <button type="button" class="primary" aria-disabled=${busy.value !== null} onClick=${() => playBots(game)}>${t("play_bots")}</button>
            <a class="button" href=${`#/new?game=${game.id}`}>${t("new_match")}</a>
          </div>
        </li>`,
      )}
    </ul>
  </section>`;
}

/** @param {{ status: string, title: string, empty: string, hasFilters?: boolean }} props */
function Matches({ status, title, empty, hasFilters = false }) {
  const matches = useSignal(/** @type {readonly Summary[] | null} */ (null));
  const next = useSignal(/** @type {string | null} */ (null));
  const problem = useSignal(/** @type {Error | null} */ (null));
  const filters = useSignal(/** @type {Record<string, string>} */ ({}));
  const pages = useSignal(1);

  const isOpen = status === "open";
  /** Not one of the player's own that go on, which are listed above. @param {Summary} match */
  const isForeign = (match) => mine.value.every((one) => one.id !== match.id);
  const query = () => new URLSearchParams({ status, limit: String(PAGE), ...(isOpen && { free_seats: "1" }), ...filters.value });
  const read = async () => {
    const asked = String(query());
    try {
      const page = await get(`/v1/matches?${asked}`);
      if (asked !== String(query())) return;
      matches.value = page.matches.filter(isForeign);
      next.value = page.next;
      pages.value = 1;
      problem.value = null;
    } catch (error) {
      problem.value = /** @type {Error} */ (error);
    }
  };
  const readMore = async () => {
    try {
      const page = await get(`/v1/matches?${query()}&cursor=${next.value}`);
      matches.value = [...(matches.value ?? []), ...page.matches.filter(isForeign)];
      next.value = page.next;
      pages.value += 1;
    } catch (error) {
      problem.value = /** @type {Error} */ (error);
    }
  };
  useSignalEffect(() => {
    void filters.value;
    void mine.value;
    read();
  });
  useEffect(() => {
    // Once more pages are shown, they stay as they are.
    const timer = setInterval(() => !document.hidden && pages.value === 1 && read(), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  const heading = `${status}-matches`;
  return html`<section aria-labelledby=${heading}>
    <h2 id=${heading}>${title}</h2>
    ${hasFilters && html`<${Filters} filters=${filters} />`}
    <div role="status">${problem.value && html`<p class="problem">${problem.value.message}</p>`}</div>
    ${matches.value?.length === 0 && html`<p class="soft">${empty}</p>`}
    <ul class="matches">
      ${(matches.value ?? []).map((match) => html`<li key=${match.id}><${Row} match=${match} /></li>`)}
    </ul>
    ${next.value !== null && html`<button type="button" class="plain" onClick=${readMore}>${t("more")}</button>`}
  </section>`;
}

/** @param {{ filters: import("@preact/signals").Signal<Record<string, string>> }} props */
function Filters({ filters }) {
  /** @param {string} name @param {readonly [string, string][]} choices */
  const select = (name, choices) => {
    /** @param {any} event */
    const change = (event) => {
      const { [name]: _, ...others } = filters.value;
      filters.value = event.target.value === "" ? others : { ...others, [name]: event.target.value };
    };
    return html`<label><span>${t(/** @type {any} */ (`filter_${name}`))}</span>
      <select value=${filters.value[name] ?? ""} onChange=${change}>
        <option value="">${t("any")}</option>
        ${choices.map(([value, text]) => html`<option key=${value} value=${value}>${text}</option>`)}
      </select>
    </label>`;
  };
  const counts = [...new Set(games.value.flatMap((game) => game.seats))].sort((one, other) => one - other);
  return html`<div class="filters">
    ${select("game", games.value.map((game) => [game.id, game.title]))}
    ${select("seats", counts.map((count) => [String(count), String(count)]))}
    ${select("speed", SPEEDS.map((speed) => [speed, t(/** @type {any} */ (`speed_${speed}`))]))}
    ${select("bots", [["true", t("with_bots")], ["false", t("without_bots")]])}
    ${select("rated", [["true", t("only_rated")], ["false", t("not_rated")]])}
  </div>`;
}
