/** The hosted bots to which the player may give a seat. */
import { get } from "./api.js";
import { useLoaded } from "./loaded.js";
import { me } from "./session.js";
import { t } from "./words.js";

/** @import { PublicBot } from "./types.d.ts" */

/** The longest page of the API. */
const MOST = 200;

/** Those that play a game, as far as this player may seat them; none until they are read. @param {string} game */
export function useHosted(game) {
  const { value } = useLoaded(() => get(`/v1/bots?limit=${MOST}`), []);
  const all = /** @type {readonly PublicBot[]} */ (value?.hosted ?? []);
  return all.filter(({ games, seating, owner }) => games.includes(game) && (seating === "everyone" || owner === me.value));
}

/** @param {PublicBot} bot */
export const titleOfBot = ({ name, owner_name: owner }) => t("hosted_bot", { name, owner: owner ?? t("someone") });
