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
export const createAndJoin = (body) =>
  goTo(async () => {
    const player = me.value;
    const { id } = await command("/v1/matches", body, player);
    try {
      await command(`/v1/matches/${id}/seats`, {}, player);
    } catch (error) {
      failed.set(id, /** @type {Error} */ (error));
    }
    return id;
  });

/** Go to the page of a match once it is made, unless the person went elsewhere meanwhile. @param {() => Promise<string>} make resolves to its id */
export async function goTo(make) {
  const from = location.hash;
  const id = await make();
  if (location.hash === from) location.hash = `#/match/${id}`;
}

/** Why the player got no seat in this match; it is said once. @param {string} id */
export function whyNotJoined(id) {
  const error = failed.get(id);
  failed.delete(id);
  return error;
}
