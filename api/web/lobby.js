/** The lobby: my matches, games to play at once, matches that wait for players, and running ones to watch. */
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { needPlayer } from "./account.js";
import { games, readGames } from "./games.js";
import { html } from "./html.js";
import { createAndJoin } from "./joining.js";
import { useLoaded } from "./loaded.js";
import { Row } from "./match-row.js";
import { isMyTurn, mine, readMine } from "./notices.js";
import { More, REFRESH_MS, usePages } from "./pages.js";
import { Failure, Fault, useTask } from "./task.js";
import { t } from "./words.js";

/** @import { GameSummary, OwnMatch, Summary } from "./types.d.ts" */

const PAGE = 20;
const SPEEDS = ["minutes", "hours", "days"];
/** Ratings between which a person may choose; a new player has 1000. */
const RATINGS = ["800", "900", "1000", "1100", "1200", "1400"];

export function Lobby() {
  const { fault } = useLoaded(readGames, []);
  useEffect(() => void readMine(), []);
  return html`
    <h1 tabindex="-1">${t("lobby")}</h1>
    <${Fault} fault=${fault} />
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
  const task = useTask();
  /** @param {GameSummary} game */
  const playBots = (game) =>
    task.run(async () => {
      const seats = game.seats.find((count) => count > 1) ?? 1;
      const bot = game.bots.find((name) => name !== "random") ?? game.bots[0];
      if (await needPlayer()) await createAndJoin({ game: game.id, seats, bots: Array(seats - 1).fill(bot), private: true });
    });
  return html`<section aria-labelledby="games">
    <h2 id="games">${t("play")}</h2>
    <${Failure} task=${task} />
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
            <button type="button" class="primary" aria-disabled=${task.isBusy.value} onClick=${() => playBots(game)}>${t("play_bots")}</button>
            <a class="button" href=${`#/new?game=${game.id}`}>${t("new_match")}</a>
          </div>
        </li>`,
      )}
    </ul>
  </section>`;
}

/** @param {{ status: string, title: string, empty: string, hasFilters?: boolean }} props */
function Matches({ status, title, empty, hasFilters = false }) {
  const filters = useSignal(/** @type {Record<string, string>} */ ({}));
  const isOpen = status === "open";
  const query = () => new URLSearchParams({ status, limit: String(PAGE), ...(isOpen && { free_seats: "1" }), ...filters.value });
  const pages = usePages(() => `/v1/matches?${query()}`, (page) => /** @type {readonly Summary[]} */ (page.matches));
  useSignalEffect(() => {
    void filters.value;
    pages.restart();
  });
  useEffect(() => {
    // Once more pages are shown, they stay as they are. One that could not be read is repeated when the service allows it.
    const stays = () => document.hidden || pages.isBusy.value || pages.problem.value !== null || pages.count.value > 1;
    const timer = setInterval(() => stays() || pages.restart(), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  // The player's own that go on are listed above.
  const shown = pages.items.value?.filter((match) => mine.value.every((one) => one.id !== match.id));
  const heading = `${status}-matches`;
  return html`<section aria-labelledby=${heading}>
    <h2 id=${heading}>${title}</h2>
    ${hasFilters && html`<${Filters} filters=${filters} />`}
    ${shown?.length === 0 && html`<p class="soft">${empty}</p>`}
    <ul class="matches">
      ${(shown ?? []).map((match) => html`<li key=${match.id}><${Row} match=${match} /></li>`)}
    </ul>
    <${More} pages=${pages} />
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
    ${["rating_from", "rating_to"].map((name) => select(name, RATINGS.map((rating) => [rating, rating])))}
  </div>`;
}
