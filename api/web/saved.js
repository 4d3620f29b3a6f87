/** The page that `moonstone view` writes: one match with all its pictures and texts, and no network. */
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { html } from "./html.js";
import { placeIn, queryOf, Replay } from "./replay.js";
import { language, LANGUAGES, speak, t } from "./words.js";

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

/** The data of the page: JSON, compressed with gzip, in base64. @returns {Promise<Saved>} */
async function unpack() {
  const bytes = Uint8Array.from(atob(document.getElementById("replay")?.textContent ?? ""), (one) => one.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

/** @param {Saved} saved @returns {Source} */
export function sourceOf({ match, audit, timelines, table }) {
  const seats = match.seats.map(({ seat }) => seat);
  /** @param {number | null} viewer @param {string} inLanguage */
  const name = (viewer, inLanguage) => `${inLanguage}-${viewer ?? "s"}`;
  return {
    seats: match.seats,
    last: match.version,
    viewers: [null, ...seats],
    viewer: null,
    isOver: true,
    timeline: async (viewer, inLanguage) => timelines[name(viewer, inLanguage)] ?? [],
    picture: async (version, viewer, view, inLanguage) => {
      const shown = view === "now" ? seats : [viewer];
      const pictures = shown.map((one) => table.pictures[name(one, inLanguage)]?.[version - 1]);
      return documentOf(pictures.filter((one) => one !== undefined), table, inLanguage);
    },
    audit: async () => audit,
  };
}

/**
 * The SVG document of a picture, or of several, one below the other, as `board.svg` writes them.
 * @param {Tabled[]} pictures @param {Saved["table"]} table @param {string} inLanguage
 */
export function documentOf(pictures, { style, nodes, art }, inLanguage) {
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
    `viewBox="0 0 ${width} ${height}" lang="${inLanguage}" role="group"><title>${title}</title><desc>${description}</desc>` +
    `<style>${style}</style><defs>${art.map((index) => markup(index, "")).join("")}</defs>` +
    `<rect class="ms-ground ms-${background}" x="0" y="0" width="${width}" height="${height}"/>${parts.join("")}</svg>\n`
  );
}

/** @param {string} tag a start tag, whose first attribute is its id if it has one @param {string} prefix */
function withPrefix(tag, prefix) {
  return prefix ? tag.replace(/^(<\w+ id=")/, `$1${prefix}`) : tag;
}

/** @param {{ saved: Saved }} props */
function Page({ saved }) {
  const [source] = useState(() => sourceOf(saved));
  const [place, setPlace] = useState(placeIn(new URLSearchParams(location.hash.slice(1))));
  useEffect(() => {
    const follow = () => setPlace(placeIn(new URLSearchParams(location.hash.slice(1))));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    document.documentElement.lang = language.value;
  }, [language.value]);
  /** @param {Place} to */
  const link = (to) => `#${queryOf(to)}`;
  /** @param {Place} to */
  const onPlace = (to) => {
    history.replaceState(null, "", link(to));
    setPlace(to);
  };
  const languages = Object.entries(LANGUAGES).map(
    ([code, name]) =>
      html`<button type="button" class="plain" lang=${code} aria-pressed=${language.value === code} onClick=${() => speak(code)}>
        ${name}
      </button>`,
  );
  return html`<header>
      <span class="brand"><span class="moon" aria-hidden="true"></span>${saved.title}</span>
      <span class="soft">${saved.match.id}</span>
      <span class="grow"></span>
      <span class="languages" role="group" aria-label=${t("language")}>${languages}</span>
    </header>
    <main>
      <h1 class="visually-hidden">${saved.title}</h1>
      <${Replay} source=${source} language=${language.value} place=${place} onPlace=${onPlace} link=${link} />
    </main>`;
}

const page = document.getElementById("app");
const saved = await unpack();
if (page !== null) render(html`<${Page} saved=${saved} />`, page);
