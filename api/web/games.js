/** The games of the service, read once. */
import { signal } from "@preact/signals";
import { get } from "./api.js";
import { language } from "./words.js";

/** @import { Game, GameSummary } from "./types.d.ts" */

/** @type {import("@preact/signals").Signal<readonly GameSummary[]>} */
export const games = signal([]);
/** @type {Map<string, Promise<Game>>} */
const pages = new Map();

/** Read the list if it is not there yet. */
export async function readGames() {
  if (games.value.length === 0) games.value = (await get("/v1/games")).games;
}

/** @param {string} id */
export const titleOfGame = (id) => games.value.find((game) => game.id === id)?.title ?? id;

/** A game in full. @param {string} id @returns {Promise<Game>} */
export function readGame(id) {
  const known = pages.get(id);
  if (known !== undefined) return known;
  const page = get(`/v1/games/${id}`);
  pages.set(id, page);
  page.catch(() => pages.delete(id)); // so that it is read again
  return page;
}

/** A text of a game in the language of the page. @param {Game | null} game @param {string} key */
export const textOf = (game, key) => game?.texts[language.value]?.[key];
