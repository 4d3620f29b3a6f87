// What the bot plays. This is the file to change.

import { resolved } from "./patterns.mjs";

// Choose an action out of the legal ones, as the API lists them; there is at least one. An entry may have a pattern in
// place of a value: {any_of: items, min: 1, max: 3} stands for any choice of one to three of the items. Call `observe`,
// which gives a promise, for the observation of the table, if the choice depends on more than the list. `seat` is the
// number of the bot's seat, from 0, and `match` the id of the match.
export async function choose({ legalActions, observe, seat, match }) {
  return resolved(legalActions[0]);
}
