/**
 * Reads the text of a picture. Nothing of it is inserted as it is: only elements and attributes of a list are copied.
 */

/** @typedef {Record<string, string>} Data the names and values of `data-` attributes, without the prefix */
/** @typedef {{ x: number, y: number, scale: number }} Transform scales, then moves */
/**
 * @typedef {object} Place where an element with an id is
 * @property {SVGElement} element
 * @property {Transform} around that of the groups around it, to the picture
 * @property {Transform} own its `transform`
 * @property {number} left `x` of the element itself
 * @property {number} top
 * @property {string | null} inside the id of the nearest group around it that has one
 */
/**
 * @typedef {object} Drawing
 * @property {SVGElement} svg
 * @property {Map<string, Place>} places by id
 * @property {{ element: SVGElement, data: Data }[]} named elements with `data-` attributes, and these with those around them
 */

const SVG = "http://www.w3.org/2000/svg";
const SHAPE = ["id", "class", "transform"];
/** The elements of pictures and their attributes, as the laws of pictures state them. @type {Map<string, Set<string>>} */
const ALLOWED = new Map(
  Object.entries({
    svg: ["class", "width", "height", "viewBox", "lang", "role"],
    title: [],
    desc: [],
    style: [],
    defs: [],
    g: SHAPE,
    rect: [...SHAPE, "x", "y", "width", "height", "rx"],
    circle: [...SHAPE, "cx", "cy", "r"],
    ellipse: [...SHAPE, "cx", "cy", "rx", "ry"],
    path: [...SHAPE, "d"],
    text: [...SHAPE, "x", "y"],
    use: [...SHAPE, "href", "x", "y"],
  }).map(([name, attributes]) => [name, new Set(attributes)]),
);
const DATA = /^data-[a-z_]+$/;
const TRANSFORM = /^translate\((-?[\d.]+) (-?[\d.]+)\)(?: scale\(([\d.]+)\))?$/;
/** @type {Transform} */
const STILL = { x: 0, y: 0, scale: 1 };
/** The only place of the page that gives text to a parser. The result is an inert document, of which `copy` takes parts. */
const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy("picture", {
  createHTML: (/** @type {string} */ text) => text,
});

/**
 * Parse a picture and copy what is allowed.
 * @param {string} text @returns {Drawing}
 */
export function read(text) {
  const parsed = new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "image/svg+xml");
  /** @type {Drawing} */
  const drawing = { svg: document.createElementNS(SVG, "svg"), places: new Map(), named: [] };
  const copied = copy(parsed.documentElement, { around: STILL, inside: null, data: {} }, drawing);
  if (copied?.localName !== "svg") throw new Error("This is not an SVG document.");
  drawing.svg = copied;
  return drawing;
}

/**
 * @param {Element} source
 * @param {{ around: Transform, inside: string | null, data: Data }} outer
 * @param {Drawing} drawing
 * @returns {SVGElement | null} null if such an element is not allowed
 */
function copy(source, { around, inside, data }, drawing) {
  const allowed = source.namespaceURI === SVG ? ALLOWED.get(source.localName) : undefined;
  if (allowed === undefined) return null;
  const element = /** @type {SVGElement} */ (document.createElementNS(SVG, source.localName));
  /** @type {Data | null} */
  let named = null;
  for (const { name, value } of source.attributes) {
    if (DATA.test(name)) named = { ...(named ?? data), [name.slice(5)]: value };
    else if (!allowed.has(name) || (name === "href" && !value.startsWith("#"))) continue;
    element.setAttribute(name, value);
  }
  if (named !== null) drawing.named.push({ element, data: named });
  const own = transformOf(source);
  if (source.id) {
    const left = Number(source.getAttribute("x") ?? 0);
    const top = Number(source.getAttribute("y") ?? 0);
    drawing.places.set(source.id, { element, around, own, left, top, inside });
  }
  const within = { around: combined(around, own), inside: source.id || inside, data: named ?? data };
  for (const child of source.childNodes) {
    const part = child instanceof Element ? copy(child, within, drawing) : child.nodeValue;
    if (part !== null && child.nodeType !== Node.COMMENT_NODE) element.append(part);
  }
  return element;
}

/** @param {Element} element @returns {Transform} */
function transformOf(element) {
  const found = TRANSFORM.exec(element.getAttribute("transform") ?? "");
  return found ? { x: Number(found[1]), y: Number(found[2]), scale: Number(found[3] ?? 1) } : STILL;
}

/** The transform of an element in a group. @param {Transform} outer @param {Transform} inner @returns {Transform} */
export function combined(outer, inner) {
  return { x: outer.x + outer.scale * inner.x, y: outer.y + outer.scale * inner.y, scale: outer.scale * inner.scale };
}
