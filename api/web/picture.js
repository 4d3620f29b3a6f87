/**
 * The picture of a table, inserted into the page.
 *
 * Nothing of the text is inserted as it is: only elements and attributes of a list are copied. Elements keep their ids from
 * version to version, so that what moved can be shown moving. An element belongs to an action if its `data-` attributes, and
 * those of the groups around it, equal the action's fields; so a picture can be clicked without any rules of a game.
 */
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "./html.js";

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
/** @type {readonly any[]} */
const NONE = [];
const MOVE_MS = 350;
/** If more elements than these move at once, a picture is replaced at once: nobody could follow them. */
const MOST_MOVING = 150;
const STEPS = new Map([
  ["ArrowLeft", [-1, 0]],
  ["ArrowRight", [1, 0]],
  ["ArrowUp", [0, -1]],
  ["ArrowDown", [0, 1]],
]);

/** The only place of the page that gives text to a parser. The result is an inert document, of which `copy` takes parts. */
const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy("picture", {
  createHTML: (/** @type {string} */ text) => text,
});

/**
 * Whether an element touches an action: at least one attribute names a field of the action, and each that does has its value,
 * or one of its values. A pattern has all its items as values, an object its keys.
 * @param {Data} data
 * @param {Record<string, unknown>} action or any other set of attributes
 */
export function matchesAction(data, action) {
  const shared = Object.keys(data).filter((name) => Object.hasOwn(action, name));
  return shared.length > 0 && shared.every((name) => values(action[name]).includes(data[name] ?? ""));
}

/** @param {unknown} value @returns {string[]} */
function values(value) {
  if (Array.isArray(value)) return value.map(String);
  if (typeof value !== "object" || value === null) return [String(value)];
  return "any_of" in value ? values(value.any_of) : Object.keys(value);
}

/**
 * @param {object} props
 * @param {string} props.svg the text of `board.svg`
 * @param {readonly Record<string, unknown>[]} [props.fits] what can be clicked: actions or sets of attributes; elements that
 *   `matchesAction` finds in one of them become buttons
 * @param {readonly Record<string, unknown>[]} [props.highlight] what is lit up, in the same way
 * @param {(data: Data) => void} [props.onPick] gets the attributes of a clicked element and of the groups around it
 */
export function Picture({ svg, fits = NONE, highlight = NONE, onPick }) {
  const host = useRef(/** @type {HTMLDivElement | null} */ (null));
  const drawing = useRef(/** @type {Drawing | null} */ (null));
  const buttons = useRef(/** @type {Map<Element, Data>} */ (new Map()));
  const focused = useRef(/** @type {string | undefined} */ (undefined));

  useLayoutEffect(() => {
    const before = drawing.current;
    const after = (drawing.current = read(svg));
    focused.current = host.current?.querySelector(":focus")?.id;
    host.current?.replaceChildren(after.svg);
    if (before !== null) animate(before, after);
  }, [svg]);

  useLayoutEffect(() => {
    buttons.current = mark(drawing.current?.named ?? [], fits, highlight);
    const same = drawing.current?.places.get(focused.current ?? "")?.element;
    if (same !== undefined && buttons.current.has(same)) focus(same);
    focused.current = undefined;
  }, [svg, fits, highlight]);

  /** Tab will come back to this button. @param {SVGElement} button */
  const focus = (button) => {
    for (const other of buttons.current.keys()) other.setAttribute("tabindex", other === button ? "0" : "-1");
    button.focus();
  };
  /** @param {Event} event */
  const pick = (event) => {
    const button = /** @type {Element} */ (event.target).closest(".fits");
    const data = button && buttons.current.get(button);
    if (!data) return;
    event.preventDefault();
    onPick?.(data);
  };
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    const step = STEPS.get(event.key);
    if (event.key === "Enter" || event.key === " ") pick(event);
    else if (step !== undefined) {
      const next = neighbour([...buttons.current.keys()], /** @type {Element} */ (event.target), step);
      if (next === null) return;
      event.preventDefault();
      focus(next);
    }
  };
  return html`<div class="picture" ref=${host} onClick=${pick} onKeyDown=${onKeyDown}></div>`;
}

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

/** The transform of a group and then of one around it. @param {Transform} outer @param {Transform} inner @returns {Transform} */
function combined(outer, inner) {
  return { x: outer.x + outer.scale * inner.x, y: outer.y + outer.scale * inner.y, scale: outer.scale * inner.scale };
}

/** What `inner` must be so that `combined(outer, inner)` is `whole`. @param {Transform} whole @param {Transform} outer */
function relative(whole, outer) {
  return {
    x: (whole.x - outer.x) / outer.scale,
    y: (whole.y - outer.y) / outer.scale,
    scale: whole.scale / outer.scale,
  };
}

/** The transform of an element to the picture, including its own `x` and `y`. @param {Place} place */
function whereIs({ around, own, left, top }) {
  return combined(combined(around, own), { x: left, y: top, scale: 1 });
}

/**
 * Move what has another place now, and let what is new appear. A group takes its elements along.
 * @param {Drawing} before @param {Drawing} after
 */
function animate(before, after) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  /** @type {[SVGElement, Keyframe[]][]} */
  const moves = [];
  for (const [id, place] of after.places) {
    const old = before.places.get(id);
    const group = place.inside === null ? undefined : after.places.get(place.inside);
    const oldGroup = place.inside === null ? undefined : before.places.get(place.inside);
    if (old === undefined) {
      if (group === undefined || oldGroup !== undefined) moves.push([place.element, [{ opacity: 0 }, { opacity: 1 }]]);
      continue;
    }
    let from = whereIs(old);
    if (group !== undefined && oldGroup !== undefined && old.inside === place.inside) {
      from = combined(whereIs(group), relative(from, whereIs(oldGroup)));
    }
    if (isNear(from, whereIs(place))) continue;
    const start = combined(relative(from, place.around), { x: -place.left, y: -place.top, scale: 1 });
    moves.push([place.element, [{ transform: css(start) }, { transform: css(place.own) }]]);
  }
  if (moves.length > MOST_MOVING) return;
  for (const [element, frames] of moves) element.animate(frames, { duration: MOVE_MS, easing: "ease-in-out" });
}

/** @param {Transform} one @param {Transform} other */
function isNear(one, other) {
  return Math.abs(one.x - other.x) < 1 && Math.abs(one.y - other.y) < 1 && Math.abs(one.scale - other.scale) < 0.01;
}

/** @param {Transform} transform */
const css = ({ x, y, scale }) => `translate(${x}px, ${y}px) scale(${scale})`;

/**
 * Make buttons of the elements that fit, and light up those that are highlighted. One button at a time can be reached with
 * Tab, the others from there with the arrow keys.
 * @param {Drawing["named"]} named
 * @param {readonly Record<string, unknown>[]} fits
 * @param {readonly Record<string, unknown>[]} highlight
 * @returns {Map<Element, Data>} the buttons
 */
function mark(named, fits, highlight) {
  const fitting = finder(fits);
  const lit = finder(highlight);
  /** @type {Map<Element, Data>} */
  const buttons = new Map();
  for (const { element, data } of named.toReversed()) {
    element.classList.toggle("lit", lit(data));
    // Buttons contain no other buttons, so a group around smaller things that fit is none.
    const isButton = fitting(data) && element.querySelector(".fits") === null;
    element.classList.toggle("fits", isButton);
    if (isButton) buttons.set(element, data);
    else for (const name of ["role", "tabindex", "aria-label"]) element.removeAttribute(name);
  }
  const inOrder = new Map([...buttons].reverse());
  let tabindex = "0";
  for (const [element, data] of inOrder) {
    element.setAttribute("role", "button");
    element.setAttribute("tabindex", tabindex);
    element.setAttribute("aria-label", label(element, data));
    tabindex = "-1";
  }
  return inOrder;
}

/**
 * A test whether attributes match one of many actions. Only actions that share a value with them are compared.
 * @param {readonly Record<string, unknown>[]} actions
 * @returns {(data: Data) => boolean}
 */
function finder(actions) {
  /** @type {Map<string, Record<string, unknown>[]>} */
  const known = new Map();
  for (const action of actions) {
    for (const [name, value] of Object.entries(action)) {
      for (const item of values(value)) {
        const key = `${name} ${item}`;
        const others = known.get(key);
        if (others === undefined) known.set(key, [action]);
        else others.push(action);
      }
    }
  }
  return (data) =>
    Object.entries(data).some(([name, item]) =>
      known.get(`${name} ${item}`)?.some((action) => matchesAction(data, action)),
    );
}

/** What a button is called: its title, its texts, or its attributes. @param {Element} element @param {Data} data */
function label(element, data) {
  const title = element.querySelector(":scope > title")?.textContent;
  const words = [...element.querySelectorAll("text")].map((text) => text.textContent).join(" ");
  return title || words.trim() || Object.entries(data).map((pair) => pair.join(" ")).join(", ");
}

/**
 * The nearest button in a direction, as it is seen.
 * @param {Element[]} buttons @param {Element} from @param {readonly number[]} step
 * @returns {SVGElement | null}
 */
function neighbour(buttons, from, [across = 0, down = 0]) {
  const start = centre(from);
  let best = null;
  let least = Infinity;
  for (const button of buttons) {
    const { x, y } = centre(button);
    const ahead = (x - start.x) * across + (y - start.y) * down;
    const aside = Math.abs((x - start.x) * down) + Math.abs((y - start.y) * across);
    if (button !== from && ahead > 1 && ahead + 3 * aside < least) {
      least = ahead + 3 * aside;
      best = button;
    }
  }
  return /** @type {SVGElement | null} */ (best);
}

/** @param {Element} element */
function centre(element) {
  const { left, top, width, height } = element.getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2 };
}
