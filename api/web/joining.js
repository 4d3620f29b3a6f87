/** A new match, with a seat for the player who makes it: two commands, of which the second may fail. */
import { command } from "./api.js";
import { me } from "./session.js";

/** Why the player got no seat in a match made here, by the id of the match. @type {Map<string, Error>} */
const failed = new Map();

/**
 * Create a match, take a seat in it, and go to its page, which says so if there is a match now but no seat, and offers one.
 * @param {object} body of the request for a new match
 * @throws {Error} if no match was made
 */
export async function createAndJoin(body) {
  const player = me.value;
  const { id } = await command("/v1/matches", body, player);
  try {
    await command(`/v1/matches/${id}/seats`, {}, player);
  } catch (error) {
    failed.set(id, /** @type {Error} */ (error));
  }
  location.hash = `#/match/${id}`;
}

/** Why the player got no seat in this match; it is said once. @param {string} id */
export function whyNotJoined(id) {
  const error = failed.get(id);
  failed.delete(id);
  return error;
}
