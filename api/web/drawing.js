/**
 * Reads the text of a picture. Nothing of it is inserted as it is: only elements and attributes of a list are copied, into the
 * elements of the picture before as far as they are the same. A browser lays out only what changed: a picture has up to a
 * thousand elements, of which a move changes a few. Groups that are the same as before are not read again.
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
/** @typedef {{ around: Transform, inside: string | null, data: Data }} Outer the groups around an element */
/**
 * @typedef {object} Part what was read of an element
 * @property {Outer} outer
 * @property {Outer} within `outer` of its children
 * @property {string} id
 * @property {Place} place
 * @property {boolean} isNamed whether it has `data-` attributes
 * @property {readonly Part[]} parts of its children
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
/** @type {Outer} */
const OUTSIDE = { around: STILL, inside: null, data: {} };
/** By the element of the page. @type {WeakMap<Element, Part>} */
const parts = new WeakMap();
/** The only place of the page that gives text to a parser. The result is an inert document, of which `copy` takes parts. */
const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy("picture", {
  createHTML: (/** @type {string} */ text) => text,
});

/**
 * Parse a picture and copy what is allowed.
 * @param {string} text
 * @param {SVGElement | null} [before] the picture that is shown: it becomes this one
 * @returns {Drawing}
 */
export function read(text, before = null) {
  const parsed = new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "image/svg+xml");
  if (!isAllowed(parsed.documentElement) || parsed.documentElement.localName !== "svg") throw new Error("This is not an SVG document.");
  /** @type {Drawing} */
  const drawing = { svg: before ?? element("svg"), places: new Map(), named: [] };
  collect(copy(parsed.documentElement, drawing.svg, OUTSIDE), drawing);
  return drawing;
}

/** @param {Part} part @param {Drawing} drawing */
function collect(part, drawing) {
  if (part.isNamed) drawing.named.push({ element: part.place.element, data: part.within.data });
  if (part.id) drawing.places.set(part.id, part.place);
  for (const one of part.parts) collect(one, drawing);
}

/** @param {string} name */
const element = (name) => /** @type {SVGElement} */ (document.createElementNS(SVG, name));

/** @param {Element} source */
const isAllowed = (source) => source.namespaceURI === SVG && ALLOWED.has(source.localName);

/**
 * Make an element a copy of another one.
 * @param {Element} source @param {SVGElement} target @param {Outer} outer
 * @returns {Part}
 */
function copy(source, target, outer) {
  const before = parts.get(target);
  if (before?.outer === outer && source.isEqualNode(target)) return before;
  const data = copyAttributes(source, target, outer.data);
  const own = transformOf(source);
  const { id } = source;
  const left = Number(source.getAttribute("x") ?? 0);
  const top = Number(source.getAttribute("y") ?? 0);
  const place = { element: target, around: outer.around, own, left, top, inside: outer.inside };
  const inner = { around: own === STILL ? outer.around : combined(outer.around, own), inside: id || outer.inside, data };
  // The same object, if nothing in it changed, says so to the children.
  const within = before !== undefined && JSON.stringify(before.within) === JSON.stringify(inner) ? before.within : inner;
  const part = { outer, within, id, place, isNamed: data !== outer.data, parts: copyChildren(source, target, within) };
  parts.set(target, part);
  return part;
}

/** @param {Element} source @param {SVGElement} target @param {Outer} within */
function copyChildren(source, target, within) {
  /** @type {Part[]} */
  const copied = [];
  /** Those with an id are found by it, also if others come before them now. @type {Map<string, Node>} */
  const old = new Map();
  for (const child of target.children) if (child.id) old.set(child.id, child);
  let next = target.firstChild;
  for (const child of source.childNodes) {
    if (child instanceof Element ? !isAllowed(child) : child.nodeType === Node.COMMENT_NODE) continue;
    const known = child instanceof Element && child.id ? old.get(child.id) : next;
    const part = isSameKind(child, known) ? known : child instanceof Element ? element(child.localName) : document.createTextNode("");
    if (part === next) next = part.nextSibling;
    else target.insertBefore(part, next);
    if (child instanceof Element) copied.push(copy(child, /** @type {SVGElement} */ (part), within));
    else if (part.nodeValue !== child.nodeValue) part.nodeValue = child.nodeValue;
  }
  while (next !== null) {
    const gone = next;
    next = next.nextSibling;
    gone.remove();
  }
  return copied;
}

/**
 * Whether a node can become a copy of another one without another name or id.
 * @param {Node} source @param {Node | null | undefined} known
 * @returns {known is ChildNode}
 */
function isSameKind(source, known) {
  if (known?.nodeType !== source.nodeType) return false;
  return !(source instanceof Element) || (known instanceof Element && known.localName === source.localName && known.id === source.id);
}

/**
 * Copy the allowed attributes, and remove all others: those of another picture, and those that made a button of the element.
 * @param {Element} source @param {Element} target @param {Data} data that of the groups around it
 * @returns {Data} that of the element: `data` itself if it has none of its own
 */
function copyAttributes(source, target, data) {
  const allowed = /** @type {Set<string>} */ (ALLOWED.get(source.localName));
  let named = data;
  let copied = 0;
  for (const { name, value } of source.attributes) {
    if (!allowed.has(name)) {
      if (!DATA.test(name)) continue;
      named = { ...named, [name.slice(5)]: value };
    } else if (name === "href" && !value.startsWith("#")) continue;
    copied += 1;
    if (target.getAttribute(name) !== value) target.setAttribute(name, value);
  }
  if (target.attributes.length > copied) {
    for (const { name } of [...target.attributes]) if (!isCopied(source, name, allowed)) target.removeAttribute(name);
  }
  return named;
}

/** @param {Element} source @param {string} name @param {Set<string>} allowed */
const isCopied = (source, name, allowed) =>
  (allowed.has(name) || DATA.test(name)) && source.hasAttribute(name) && (name !== "href" || source.getAttribute(name)?.startsWith("#"));

/** @param {Element} element @returns {Transform} */
function transformOf(element) {
  const transform = element.getAttribute("transform");
  const found = transform === null ? null : TRANSFORM.exec(transform);
  return found ? { x: Number(found[1]), y: Number(found[2]), scale: Number(found[3] ?? 1) } : STILL;
}

/** The transform of an element in a group. @param {Transform} outer @param {Transform} inner @returns {Transform} */
export function combined(outer, inner) {
  return { x: outer.x + outer.scale * inner.x, y: outer.y + outer.scale * inner.y, scale: outer.scale * inner.scale };
}
