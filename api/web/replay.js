/**
 * The replay of a match: its picture at any version as any viewer saw it, with a scrubber, a curve of the points, all events in
 * words, and what the audit checked. A `Source` gives the data, so the replay is the same on a service and in a saved page.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { AuditReport } from "./audit.js";
import { Curve } from "./curve.js";
import { html } from "./html.js";
import { useLoaded } from "./loaded.js";
import { Picture } from "./picture.js";
import { seatName, t } from "./replay-words.js";
import { Zoomed } from "./zoomed.js";

/** @import { Audit, Moment, Seat } from "./types.d.ts" */
/**
 * @typedef {object} Place what a replay shows
 * @property {number | null} version null is the last one
 * @property {number | null | undefined} viewer a seat, null for a spectator, undefined for the first view of the source
 * @property {"then" | "now"} view what the viewer knew then, or what all seats knew, which is open to all after the end
 */
/**
 * @typedef {object} Source where a replay gets its data
 * @property {readonly Seat[]} seats
 * @property {number} last the last version
 * @property {readonly (number | null)[]} viewers whose views are open to this person
 * @property {number | null} viewer whose view is shown first
 * @property {boolean} isOver whether the view `now` is open
 * @property {(viewer: number | null, language: string) => Promise<readonly Moment[]>} timeline a line for each version
 * @property {(version: number, viewer: number | null, view: Place["view"], language: string) => Promise<string>} picture with
 *   its changes marked
 * @property {() => Promise<Audit>} audit
 */

const PLAY_MS = 1_200;
const LEAP = 10;
const ADDRESS_MS = 300;
/** The outlines of the signs on the buttons: not every font has such characters. */
const SIGNS = {
  first: "M3 4h2.5v12H3zM17 4v12l-10-6z",
  back: "M15 4v12L5 10z",
  play: "M5 3l12 7-12 7z",
  pause: "M5 4h3.5v12H5zM11.5 4H15v12h-3.5z",
  forward: "M5 4l10 6-10 6z",
  last: "M14.5 4H17v12h-2.5zM3 4l10 6-10 6z",
};

/**
 * @param {object} props
 * @param {Source} props.source
 * @param {string} props.language
 * @param {Place} props.place
 * @param {(place: Place) => void} props.onPlace called when the person goes elsewhere
 * @param {(place: Place) => string} props.link the address of a place
 */
export function Replay({ source, language, place, onPlace, link }) {
  const { last } = source;
  const view = source.isOver ? place.view : "then";
  const viewer = place.viewer !== undefined && source.viewers.includes(place.viewer) ? place.viewer : source.viewer;
  const version = Math.min(Math.max(place.version ?? last, 1), last);
  const [marks, setMarks] = useState(true);
  const [isPlaying, setPlaying] = useState(false);
  const timeline = useLoaded(() => source.timeline(viewer, language), [source, viewer, language]);
  const picture = useLoaded(() => source.picture(version, viewer, view, language), [source, version, viewer, view, language]);
  const audit = useLoaded(() => source.audit(), [source]);
  const moments = timeline.value ?? [];
  const moment = moments[version - 1];
  const shown = { version, viewer, view };

  /** @param {number} to */
  const go = (to) => onPlace({ ...shown, version: Math.min(Math.max(to, 1), last) });
  useKeys((by) => go(version + by));
  useEffect(() => {
    if (!isPlaying) return undefined;
    if (version === last) setPlaying(false);
    const timer = setTimeout(() => go(version + 1), PLAY_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, version, last]);
  const play = () => {
    if (!isPlaying && version === last) go(1);
    setPlaying(!isPlaying);
  };
  const report = html`<${AuditReport} audit=${audit.value} last=${last} onGo=${go} />`;
  const hasFailed = audit.value?.checks.some(({ result }) => result === "failed");
  const fault = timeline.fault ?? picture.fault ?? audit.fault;

  return html`<section aria-label=${t("replay")}>
    ${hasFailed && report}
    <div class="replay">
      <div class="replay-controls">
        <div class="replay-steps">
          ${button(t("first"), SIGNS.first, () => go(1), version === 1)}
          ${button(t("back"), SIGNS.back, () => go(version - 1), version === 1)}
          ${button(t(isPlaying ? "pause" : "play"), isPlaying ? SIGNS.pause : SIGNS.play, play, false)}
          ${button(t("forward"), SIGNS.forward, () => go(version + 1), version === last)}
          ${button(t("last"), SIGNS.last, () => go(last), version === last)}
        </div>
        <label class="replay-scrubber">
          <span>${t("version", { version, last })}</span>
          <input
            type="range"
            min="1"
            max=${last}
            value=${version}
            aria-valuetext=${moment ? `${version}: ${moment.text}` : String(version)}
            title=${t("keys")}
            onInput=${(/** @type {any} */ event) => go(Number(event.target.value))}
          />
        </label>
      </div>
      <div class=${marks ? "replay-main" : "replay-main unmarked"}>
        <${Zoomed} label=${t("board")}>${picture.value !== null && html`<${Picture} svg=${picture.value} />`}<//>
        <p class="replay-text" aria-live=${isPlaying ? "off" : "polite"}>${moment?.text ?? t("loading")}</p>
        ${fault && html`<p role="alert" class="problem">${fault.message}</p>`}
      </div>
      <div class="side">
        ${!hasFailed && report}
        <div class="replay-options card">
          <${Views} source=${source} place=${shown} onPlace=${onPlace} />
          <label class="check">
            <input type="checkbox" checked=${marks} onChange=${() => setMarks(!marks)} />
            <span>${t("marks")}</span>
          </label>
          <a href=${link(shown)}>${t("link")}</a>
        </div>
        <${Curve} moments=${moments} seats=${source.seats} version=${version} onVersion=${go} />
        <${Events} moments=${moments} version=${version} place=${shown} audit=${audit.value} link=${link} go=${go} />
      </div>
    </div>
  </section>`;
}

/**
 * What a replay shows, as the query of the page's address says. The address follows once the person stays somewhere, since
 * browsers limit how often it may change.
 * @param {string} query
 * @param {(place: Place) => string} link
 * @returns {[Place, (place: Place) => void]} the place, and what goes elsewhere
 */
export function usePlace(query, link) {
  const [place, setPlace] = useState(() => placeIn(query));
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  useEffect(() => {
    setPlace(placeIn(query));
    return () => clearTimeout(timer.current);
  }, [query]);
  /** @param {Place} to */
  const go = (to) => {
    setPlace(to);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => history.replaceState(null, "", link(to)), ADDRESS_MS);
  };
  return [place, go];
}

/** The place that the query of an address names, such as `version=12&seat=1`. @param {string} query @returns {Place} */
function placeIn(query) {
  const wanted = new URLSearchParams(query);
  const [version, seat] = [wanted.get("version") ?? "", wanted.get("seat") ?? ""];
  return {
    version: /^\d{1,9}$/.test(version) ? Number(version) : null,
    viewer: seat === "spectator" ? null : /^\d{1,2}$/.test(seat) ? Number(seat) : undefined,
    view: wanted.get("view") === "now" ? "now" : "then",
  };
}

/** @param {Place} place */
export function queryOf({ version, viewer, view }) {
  const parts = version === null ? [] : [`version=${version}`];
  if (viewer !== undefined) parts.push(`seat=${viewer ?? "spectator"}`);
  if (view === "now") parts.push("view=now");
  return parts.join("&");
}

/** @param {string} name @param {string} sign @param {() => void} onClick @param {boolean} disabled */
function button(name, sign, onClick, disabled) {
  return html`<button type="button" aria-label=${name} title=${name} aria-disabled=${disabled} onClick=${onClick}>
    <svg viewBox="0 0 20 20" aria-hidden="true"><path d=${sign} /></svg>
  </button>`;
}

/**
 * Whose view is shown.
 * @param {{ source: Source, place: Place, onPlace: (place: Place) => void }} props
 */
function Views({ source, place, onPlace }) {
  /** @param {any} event */
  const choose = ({ target: { value } }) =>
    onPlace({
      ...place,
      view: value === "now" ? "now" : "then",
      viewer: value === "now" ? place.viewer : value === "spectator" ? null : Number(value),
    });
  const chosen = place.view === "now" ? "now" : String(place.viewer ?? "spectator");
  const options = source.viewers.map((viewer) => {
    const value = String(viewer ?? "spectator");
    return html`<option value=${value} selected=${value === chosen}>${seatName(source.seats, viewer)}</option>`;
  });
  return html`<label class="replay-views">
    <span>${t("seenBy")}</span>
    <select onChange=${choose}>
      ${options} ${source.isOver && html`<option value="now" selected=${chosen === "now"}>${t("everyone")}</option>`}
    </select>
  </label>`;
}

/**
 * All events in words. The one of the version is in sight.
 * @param {object} props
 * @param {readonly Moment[]} props.moments
 * @param {number} props.version
 * @param {Place} props.place
 * @param {Audit | null} props.audit
 * @param {(place: Place) => string} props.link
 * @param {(version: number) => void} props.go
 */
function Events({ moments, version, place, audit, link, go }) {
  const list = useRef(/** @type {HTMLOListElement | null} */ (null));
  useEffect(() => {
    const [item, all] = [list.current?.children[version - 1], list.current];
    if (item instanceof HTMLElement && all !== null) all.scrollTop = item.offsetTop - all.clientHeight / 2;
  }, [version, moments]);
  const wrong = audit?.checks.find((check) => check.result === "failed")?.version;
  return html`<div class="replay-events card">
    <h2 id="replay-events" class="small">${t("events")}</h2>
    <ol ref=${list} tabindex="0" aria-labelledby="replay-events">
      ${moments.map((moment) => {
        const isShown = moment.version === version;
        /** @param {MouseEvent} event */
        const follow = (event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          go(moment.version);
        };
        return html`<li key=${moment.version} class=${moment.version === wrong ? "wrong" : ""}>
          <a
            href=${link({ ...place, version: moment.version })}
            aria-current=${isShown ? "step" : undefined}
            onClick=${follow}
          >
            <span class="number">${moment.version}</span> <span>${moment.text}</span>
          </a>
          ${isShown && moment.clauses.length > 0 && html`<small>${t("clauses", { clauses: moment.clauses.join(", ") })}</small>`}
        </li>`;
      })}
    </ol>
  </div>`;
}

/** Keys of the whole page, where nothing else takes them. @param {(by: number) => void} step */
function useKeys(step) {
  const current = useRef(step);
  current.current = step;
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const onKey = (event) => {
      const isOther = event.target instanceof Element && event.target.closest("input, select, textarea, .fits") !== null;
      const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (by === 0 || isOther || event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
      event.preventDefault();
      current.current(event.shiftKey ? LEAP * by : by);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
