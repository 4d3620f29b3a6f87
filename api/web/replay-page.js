/** The page of a replay on the service: its data come from the API. */
import { useState } from "preact/hooks";
import { get, isTransient } from "./api.js";
import { readGames, titleOfGame } from "./games.js";
import { html } from "./html.js";
import { useLoaded } from "./loaded.js";
import { queryOf, Replay, usePlace } from "./replay.js";
import { me } from "./session.js";
import { language, t } from "./words.js";

/** @import { Match, Moment } from "./types.d.ts" */
/** @import { Place, Source } from "./replay.js" */

/** The longest page of a timeline. */
const LONGEST_PAGE = 500;
/** Pictures that are kept, so that a step back needs no request. */
const MOST_KEPT = 60;
/** Milliseconds between two requests for pictures. */
const GAP_MS = 150;

/**
 * Nothing that was read for one player stays for another one.
 * @param {{ id: string, query: URLSearchParams }} props
 */
export const ReplayPage = ({ id, query }) => html`<${OfPlayer} key=${me.value} id=${id} query=${query} />`;

/** @param {{ id: string, query: URLSearchParams }} props */
function OfPlayer({ id, query }) {
  useLoaded(readGames, []); // until it is there, the page shows the game's id instead of its title
  const { value: match, fault } = useLoaded(() => /** @type {Promise<Match>} */ (get(`/v1/matches/${id}`)), [id]);
  if (match === null && fault === null) return html`<p role="status" class="soft">${t("loading")}</p>`;
  if (match === null) {
    return html`<h1 tabindex="-1">${t(isTransient(fault) ? "replay" : "no_match")}</h1>
      <p class="problem" role="alert">${fault?.message}</p>
      <p><a href="#/">${t("to_lobby")}</a></p>`;
  }
  return html`<h1 tabindex="-1">${titleOfGame(match.game)}</h1>
    <${Shown} match=${match} query=${query} />`;
}

/** @param {{ match: Match, query: URLSearchParams }} props */
function Shown({ match, query }) {
  const [source] = useState(() => sourceOf(match));
  /** @param {Place} to */
  const link = (to) => `#/replay/${match.id}?${queryOf(to)}`;
  const [place, onPlace] = usePlace(query.toString(), link);
  return html`<${Replay} source=${source} language=${language.value} place=${place} onPlace=${onPlace} link=${link} />`;
}

/** @param {Match} match @returns {Source} */
function sourceOf(match) {
  const path = `/v1/matches/${match.id}`;
  const isOver = match.status === "finished" || match.status === "aborted";
  const seats = match.seats.map(({ seat }) => seat);
  /** @type {Map<string, Promise<string>>} */
  const kept = new Map();
  /** @param {Source["viewers"][number]} viewer */
  const asViewer = (viewer) => (viewer === null ? {} : { viewer: String(viewer) });

  let earliest = 0;
  let newest = "";
  /** While somebody drags the scrubber, only some of the pictures on the way are requested. @param {string} address */
  const picture = async (address) => {
    newest = address;
    const known = kept.get(address);
    if (known !== undefined) return known;
    const wait = earliest - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    if (newest !== address) return new Promise(() => {}); // nobody waits for this one any more
    earliest = performance.now() + GAP_MS;
    const wanted = get(address, { accept: "image/svg+xml" });
    kept.set(address, wanted);
    wanted.catch(() => kept.delete(address));
    for (const oldest of [...kept.keys()].slice(0, -MOST_KEPT)) kept.delete(oldest);
    return wanted;
  };
  return {
    seats: match.seats,
    last: match.version,
    // With a token, the API shows a match as the own seat sees it: only people without a seat are spectators.
    viewers: isOver ? [...(match.viewer === null ? [null] : []), ...seats] : [match.viewer],
    viewer: match.viewer,
    isOver,
    timeline: async (viewer) => {
      /** @type {Moment[]} */
      const moments = [];
      let next = `${path}/timeline?${new URLSearchParams({ limit: String(LONGEST_PAGE), ...asViewer(viewer) })}`;
      while (next) {
        const page = await get(next);
        moments.push(...page.moments);
        next = page.next;
      }
      return moments;
    },
    picture: (version, viewer, view, inLanguage) => {
      const query = { version: String(version), language: inLanguage, highlight: "true" };
      return picture(`${path}/board.svg?${new URLSearchParams({ ...query, ...(view === "now" ? { view } : asViewer(viewer)) })}`);
    },
    audit: () => get(`${path}/audit`),
  };
}
