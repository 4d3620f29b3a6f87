/** The page that `moonstone view` writes: one match with all its pictures and texts, and no network. */
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { html } from "./html.js";
import { wordsOf } from "./replay-words.js";
import { Replay } from "./replay.js";

/** @import { Audit, Moment, Summary } from "./types.d.ts" */
/** @import { Place, Source } from "./replay.js" */
/** @typedef {string | [string, ...number[]]} Node markup; or a start tag without its end, and the indices of its children */
/** @typedef {[width: number, height: number, background: string, title: string, description: string, body: number[]]} Tabled */
/**
 * @typedef {object} Saved what `service/ops/viewed_match.py` collects
 * @property {Summary} match
 * @property {string} title
 * @property {Audit} audit
 * @property {Record<string, Moment[]>} timelines by view, such as `en-s` and `de-0`
 * @property {{ style: string, nodes: Node[], art: number[], pictures: Record<string, Tabled[]> }} table
 */

const LANGUAGES = ["en", "de"];

/** The data of the page: JSON, compressed with gzip, in base64. @returns {Promise<Saved>} */
async function unpack() {
  const bytes = Uint8Array.from(atob(document.getElementById("replay")?.textContent ?? ""), (one) => one.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

/** @param {Saved} saved @returns {Source} */
export function sourceOf({ match, title, audit, timelines, table }) {
  const seats = match.seats.map(({ seat }) => seat);
  /** @param {number | null} viewer @param {string} language */
  const name = (viewer, language) => `${language}-${viewer ?? "s"}`;
  return {
    title,
    seats: match.seats,
    last: match.version,
    viewers: [null, ...seats],
    isOver: true,
    timeline: async (viewer, language) => timelines[name(viewer, language)] ?? [],
    picture: async (version, viewer, view, language) => {
      const shown = view === "now" ? seats : [viewer];
      const pictures = shown.map((one) => table.pictures[name(one, language)]?.[version - 1]);
      return documentOf(pictures.filter((one) => one !== undefined), table, language);
    },
    audit: async () => audit,
  };
}

/**
 * The SVG document of a picture, or of several, one below the other, as `board.svg` writes them.
 * @param {Tabled[]} pictures @param {Saved["table"]} table @param {string} language
 */
export function documentOf(pictures, { style, nodes, art }, language) {
  /** @param {number} index @param {string} prefix before each id @returns {string} */
  const markup = (index, prefix) => {
    const node = nodes[index] ?? "";
    if (typeof node === "string") return withPrefix(node, prefix);
    const [start, ...children] = node;
    const name = /^<(\w+)/.exec(start)?.[1];
    return `${withPrefix(start, prefix)}>${children.map((child) => markup(child, prefix)).join("")}</${name}>`;
  };
  let height = 0;
  const parts = pictures.map(([, tall, , , , body], number) => {
    const isAlone = pictures.length === 1;
    const inside = body.map((index) => markup(index, isAlone ? "" : `view-${number}-`)).join("");
    const moved = height > 0 ? ` transform="translate(0 ${height})"` : "";
    height += tall;
    return isAlone ? inside : `<g id="view-${number}"${moved}>${inside}</g>`;
  });
  const width = Math.max(...pictures.map(([wide]) => wide));
  const [, , background, title] = pictures[0] ?? [0, 0, "", "", "", []];
  const description = pictures.map((picture) => picture[4]).join("\n");
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" class="ms-picture" width="${width}" height="${height}" ` +
    `viewBox="0 0 ${width} ${height}" lang="${language}" role="group"><title>${title}</title><desc>${description}</desc>` +
    `<style>${style}</style><defs>${art.map((index) => markup(index, "")).join("")}</defs>` +
    `<rect class="ms-ground ms-${background}" x="0" y="0" width="${width}" height="${height}"/>${parts.join("")}</svg>\n`
  );
}

/** @param {string} tag a start tag, whose first attribute is its id if it has one @param {string} prefix */
function withPrefix(tag, prefix) {
  return prefix ? tag.replace(/^(<\w+ id=")/, `$1${prefix}`) : tag;
}

/** @param {string} fragment of an address, such as `#version=12&seat=1` @returns {Place} */
function placeOf(fragment) {
  const wanted = new URLSearchParams(fragment.slice(1));
  const [version, seat] = [wanted.get("version"), wanted.get("seat")];
  return {
    version: /^\d{1,6}$/.test(version ?? "") ? Number(version) : null,
    viewer: /^\d$/.test(seat ?? "") ? Number(seat) : null,
    view: wanted.get("view") === "now" ? "now" : "then",
  };
}

/** @param {Place} place */
function fragmentOf({ version, viewer, view }) {
  const parts = [`version=${version}`];
  if (viewer !== null) parts.push(`seat=${viewer}`);
  if (view === "now") parts.push("view=now");
  return `#${parts.join("&")}`;
}

/** @param {{ source: Source, id: string }} props */
function Page({ source, id }) {
  const [language, setLanguage] = useState(navigator.language.startsWith("de") ? "de" : "en");
  const [place, setPlace] = useState(placeOf(location.hash));
  useEffect(() => {
    const follow = () => setPlace(placeOf(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  /** @param {Place} to */
  const onPlace = (to) => {
    history.replaceState(null, "", fragmentOf(to));
    setPlace(to);
  };
  const other = LANGUAGES.find((one) => one !== language) ?? language;
  return html`<header class="replay-head">
      <h1>${source.title} <small>${id}</small></h1>
      <button type="button" lang=${other} onClick=${() => setLanguage(other)}>${wordsOf(language)("language")}</button>
    </header>
    <main>
      <${Replay} source=${source} language=${language} place=${place} onPlace=${onPlace} link=${fragmentOf} />
    </main>`;
}

const saved = await unpack();
const page = document.getElementById("page");
if (page !== null) render(html`<${Page} source=${sourceOf(saved)} id=${saved.match.id} />`, page);
