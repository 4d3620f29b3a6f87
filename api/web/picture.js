/**
 * The picture of a table, inserted into the page.
 *
 * Elements keep their ids from version to version, so that what moved can be shown moving. An element belongs to an action if
 * its `data-` attributes, and those of the groups around it, equal the action's fields; so a picture can be clicked without any
 * rules of a game.
 */
import { useLayoutEffect, useRef } from "preact/hooks";
import { read } from "./drawing.js";
import { html } from "./html.js";
import { animate } from "./moving.js";

/** @import { Data, Drawing } from "./drawing.js" */

/** @type {readonly any[]} */
const NONE = [];
const STEPS = new Map([
  ["ArrowLeft", [-1, 0]],
  ["ArrowRight", [1, 0]],
  ["ArrowUp", [0, -1]],
  ["ArrowDown", [0, 1]],
]);

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
    focused.current = host.current?.querySelector(":focus")?.id;
    const after = (drawing.current = read(svg, before?.svg));
    if (before === null) host.current?.replaceChildren(after.svg);
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
    // Of a group and the smaller things in it that are lit or fit, only these are: buttons contain no other buttons.
    element.classList.toggle("lit", lit(data) && element.querySelector(".lit") === null);
    const isButton = fitting(data) && element.querySelector(".fits") === null;
    element.classList.toggle("fits", isButton);
    if (isButton) buttons.set(element, data);
    else for (const name of ["role", "tabindex", "aria-label"]) if (element.hasAttribute(name)) element.removeAttribute(name);
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

/** What a button is called: its title and what is written on it (WCAG 2.5.3), or else its attributes. @param {Element} element @param {Data} data */
function label(element, data) {
  const title = element.querySelector(":scope > title")?.textContent ?? "";
  const words = [...element.querySelectorAll("text")].map((text) => text.textContent).join(" ");
  return (title.includes(words) ? title : `${title} ${words}`.trim()) || Object.entries(data).map((pair) => pair.join(" ")).join(", ");
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
