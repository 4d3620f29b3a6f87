/** The hosted bots to which the player may give a seat. */
import { useEffect } from "preact/hooks";
import { usePages } from "./pages.js";
import { me } from "./session.js";
import { t } from "./words.js";

/** @import { PublicBot } from "./types.d.ts" */

/** The longest page of the API. */
const MOST = 200;

/** Those that play a game, as far as this player may seat them, and the pages of which they are. @param {string} game */
export function useHosted(game) {
  const pages = usePages(() => `/v1/bots?limit=${MOST}`, (page) => /** @type {readonly PublicBot[]} */ (page.hosted));
  useEffect(() => void pages.restart(), []);
  const hosted = pages.items.value?.filter(({ games, seating, owner }) => games.includes(game) && (seating === "everyone" || owner === me.value));
  return { hosted: hosted ?? [], pages };
}

/** @param {PublicBot} bot */
export const titleOfBot = ({ name, owner_name: owner }) => t("hosted_bot", { name, owner: owner ?? t("someone") });
