/** Shows what moved between two versions of a picture, by the ids of its elements. */
import { combined } from "./drawing.js";
import { isSmooth } from "./pace.js";

/** @import { Drawing, Place, Transform } from "./drawing.js" */

const MOVE_MS = 350;
/** If more elements than these move at once, a picture is replaced at once: nobody could follow them. */
const MOST_MOVING = 150;
/** Pictures that follow each other faster than this are replaced at once too. */
const BUSY_MS = 500;
let latest = -BUSY_MS;

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
export function animate(before, after) {
  const isSoon = performance.now() < latest + BUSY_MS;
  latest = performance.now();
  if (isSoon || document.hidden || !isSmooth() || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
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
