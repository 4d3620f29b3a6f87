/** The data of a saved replay: each picture is written from a table of the elements of all pictures. */

/** @import { Audit, Moment, Summary } from "./types.d.ts" */
/** @import { Source } from "./replay.js" */
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
