/** Markdown as elements. It knows what the rules of games use: headings, paragraphs, lists, tables, bold and code. */
import { html } from "./html.js";

/** Bold or code; of other characters nothing is special. */
const MARKED = /(\*\*.+?\*\*|`[^`]+`)/;
const HEADING = /^(#{1,3}) (.*)/;
/** The line between the head of a table and its rows. */
const RULER = /^[|\s:-]+$/;

/** @param {string} text */
export function markdown(text) {
  return blocksOf(text).map((lines) => block(lines));
}

/** Lines that belong together: an empty line, a heading, and the start or end of a list or table divide them. @param {string} text */
function blocksOf(text) {
  /** @type {string[][]} */
  const blocks = [];
  let kind = "";
  for (const line of text.split("\n")) {
    const own = kindOf(line, kind);
    if (own !== "" && own === kind && own !== "#") blocks.at(-1)?.push(line);
    else if (own !== "") blocks.push([line]);
    kind = own;
  }
  return blocks;
}

/** @param {string} line @param {string} before the kind of the line before: an indented line continues a list */
function kindOf(line, before) {
  if (line.trim() === "") return "";
  if (HEADING.test(line)) return "#";
  if (line.startsWith("- ") || (before === "-" && line.startsWith("  "))) return "-";
  return line.startsWith("|") ? "|" : "p";
}

/** @param {string[]} lines */
function block(lines) {
  const [first = ""] = lines;
  const [, signs, heading] = HEADING.exec(first) ?? [];
  if (signs !== undefined) return html`<${`h${signs.length}`} tabindex=${signs.length === 1 ? "-1" : undefined}>${inline(heading ?? "")}<//>`;
  if (first.startsWith("|")) return table(lines);
  if (!first.startsWith("- ")) return html`<p>${inline(lines.join(" "))}</p>`;
  const items = lines.join("\n").slice(2).split("\n- ");
  return html`<ul>${items.map((item) => html`<li>${inline(item.replace(/\n */g, " "))}</li>`)}</ul>`;
}

/** @param {string[]} lines */
function table(lines) {
  const [head = [], ...rows] = lines.filter((line) => !RULER.test(line)).map(cellsOf);
  return html`<table>
    <thead><tr>${head.map((cell) => html`<th scope="col">${inline(cell)}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${inline(cell)}</td>`)}</tr>`)}</tbody>
  </table>`;
}

/** The cells of a row. A bar after a backslash belongs to its cell. @param {string} line */
const cellsOf = (line) => line.trim().slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));

/** @param {string} text */
function inline(text) {
  return text.split(MARKED).map((part) => {
    if (part.startsWith("**")) return html`<strong>${part.slice(2, -2)}</strong>`;
    return part.startsWith("`") ? html`<code>${part.slice(1, -1)}</code>` : part;
  });
}
