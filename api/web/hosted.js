/** The hosted bots to which the player may give a seat. */
import { useComputed, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "./api.js";
import { me } from "./session.js";
import { t } from "./words.js";

/** @import { PublicBot } from "./types.d.ts" */

/** The longest page of the API. */
const MOST = 200;

/** Those that play a game, as far as this player may seat them; none if they cannot be read. @param {string} game */
export function useHosted(game) {
  const all = useSignal(/** @type {readonly PublicBot[]} */ ([]));
  useEffect(() => {
    get(`/v1/bots?limit=${MOST}`).then((page) => (all.value = page.hosted), () => {}); // the game's own bots are there without it
  }, []);
  return useComputed(() => all.value.filter(({ games, seating, owner }) => games.includes(game) && (seating === "everyone" || owner === me.value)));
}

/** @param {PublicBot} bot */
export const titleOfBot = ({ name, owner_name: owner }) => t("hosted_bot", { name, owner: owner ?? t("someone") });
