/** The page of one match: before the start, while it runs, and after its end. */
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Actions, useChoice } from "./actions.js";
import { needPlayer } from "./account.js";
import { command, isTransient, Problem } from "./api.js";
import { readGames, titleOfGame } from "./games.js";
import { html } from "./html.js";
import { later } from "./later.js";
import { useLoaded } from "./loaded.js";
import { watch } from "./live.js";
import { Picture } from "./picture.js";
import { Seats } from "./seats.js";
import { me } from "./session.js";
import { Failure, useTask } from "./task.js";
import { language, t } from "./words.js";
import { Zoomed } from "./zoomed.js";

/** @import { Match } from "./types.d.ts" */
/** @import { Live } from "./live.js" */
/** @import { Choice } from "./actions.js" */

/** @param {{ id: string, query: URLSearchParams }} props */
export function Table({ id, query }) {
  const live = useMemo(() => watch(id), [id]);
  useEffect(() => () => live.close(), [live]);
  const known = useRef(/** @type {unknown[] | null} */ (null));
  useSignalEffect(() => {
    // Another player or another language sees another match. What everybody may see stays until it is read anew.
    const seen = [me.value, language.value];
    const before = known.current;
    if (before?.some((one, index) => one !== seen[index])) live.start({ forget: before[0] !== undefined && before[0] !== seen[0] });
    known.current = seen;
  });
  useLoaded(readGames, []); // until it is there, the page shows the game's id instead of its title
  const match = live.match.value;
  const code = query.get("code");
  if (match === null) return html`<${NoMatch} key=${code} live=${live} code=${code} />`;
  return html`<${Shown} live=${live} match=${match} />`;
}

/** A match that is not there, or is private and waits for this person. @param {{ live: Live, code: string | null }} props */
function NoMatch({ live, code }) {
  const task = useTask();
  const found = live.problem.value;
  if (found === null) return html`<p role="status" class="soft">${t(live.connection.value === "offline" ? "offline" : "loading")}</p>`;
  const join = async () => {
    if (!(await needPlayer())) return;
    await command(`/v1/matches/${live.id}/seats`, { join_code: code });
    await live.start();
  };
  const isMissing = (/** @type {unknown} */ error) => error instanceof Problem && error.code === "match-not-found";
  // Nobody learns of a private match without a seat, so only the attempt shows that there is none.
  const isInvited = code !== null && isMissing(found) && !isMissing(task.problem.value);
  return html`
    <h1 tabindex="-1">${t(isInvited ? "invited" : isTransient(found) ? "this_match" : "no_match")}</h1>
    ${isInvited
      ? html`<p>${t("invited_why")}</p><button type="button" class="primary" aria-disabled=${task.isBusy.value} onClick=${() => task.run(join)}>${t("join")}</button><${Failure} task=${task} />`
      : html`<p class="problem">${found.message}</p><p><a href="#/">${t("to_lobby")}</a></p>`}
  `;
}

/** @param {{ live: Live, match: Match }} props */
function Shown({ live, match }) {
  const choice = useChoice(live);
  const isOver = match.status === "finished" || match.status === "aborted";
  const isMyTurn = choice.decision.value !== undefined;
  return html`
    <div class="head">
      <h1 tabindex="-1">${titleOfGame(match.game)}</h1>
      ${match.rated && html`<span class="tag">${t("rated")}</span>`}
      <a href=${`#/rules/${match.game}`} target="_blank">${t("rules")}</a>
      <${Connection} live=${live} />
    </div>
    ${live.problem.value !== null && html`<p class="problem" role="alert">${live.problem.value.message}</p>`}
    <div class=${isMyTurn ? "table my-turn" : "table"}>
      <${Board} key=${match.status === "open"} isSimple=${match.status === "open"} live=${live} choice=${choice} />
      <div class="side">
        ${match.status === "open" && html`<${Waiting} live=${live} match=${match} />`}
        ${match.status === "suspended" && html`<p class="notice">${t("suspended_why")}</p>`}
        ${isOver && html`<${Ending} live=${live} match=${match} />`}
        <${Actions} choice=${choice} />
        ${match.status !== "open" && match.outcome === null && html`<${Seats} live=${live} match=${match} />`}
        ${match.status === "running" && html`<${Stay} live=${live} match=${match} />`}
      </div>
      <div class="below">
        <${Log} live=${live} />
        <${Authors} live=${live} />
      </div>
    </div>
  `;
}

const Ending = later(() => import("./ending.js").then((module) => module.Ending));
const Waiting = later(() => import("./waiting.js").then((module) => module.Waiting));
const Log = later(() => import("./log.js").then((module) => module.Log));
const Stay = later(() => import("./stay.js").then((module) => module.Stay));
const Panel = later(() => import("./panel.js").then((module) => module.Panel));

/** @param {{ live: Live }} props */
function Authors({ live }) {
  const isShown = useSignal(false);
  return html`<details class="card panel" onToggle=${(/** @type {any} */ event) => (isShown.value = event.currentTarget.open)}>
    <summary>${t("for_authors")}</summary>
    ${isShown.value && html`<${Panel} live=${live} />`}
  </details>`;
}

/** @param {{ live: Live }} props */
function Connection({ live }) {
  const state = live.problem.value === null ? live.connection.value : "over"; // the problem says more
  return html`<p class=${`connection ${state}`} role="status">${state === "live" || state === "over" ? "" : t(state)}</p>`;
}

/**
 * The picture. What fits can be clicked, and what a sentence touches is lit.
 * @param {{ live: Live, choice: Choice, isSimple: boolean }} props `isSimple`: it shows only who has a seat
 */
function Board({ live, choice, isSimple }) {
  const fits = useComputed(() => (choice.decision.value === undefined ? [] : live.actions.value));
  const lit = useComputed(() => {
    if (choice.lit.value !== null) return [choice.lit.value];
    // What contradicts none of the picks: of a row and a column only the place where they meet.
    /** @type {Record<string, string[]>} */
    const picked = {};
    for (const { field, value } of choice.picks.value) (picked[field] ??= []).push(value);
    return [picked];
  });
  return html`<${Zoomed} label=${t("board")} isSimple=${isSimple}>
    ${live.picture.value !== "" &&
    html`<${Picture} svg=${live.picture.value} fits=${fits.value} highlight=${lit.value} onPick=${choice.choose} />`}
  <//>`;
}
