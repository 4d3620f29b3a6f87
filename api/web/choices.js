/**
 * Narrows a legal list by what the person picked on the board or in the list.
 *
 * A pick is a field of an action with one value of it, as the `data-` attributes of the picture name it. A field of an action
 * holds one value, a list, a pattern (choose some of its items), or counts by item (choose an item several times).
 */

import { matchesAction } from "./picture.js";

/** @import { Action, Pattern } from "./types.d.ts" */
/** @typedef {{ field: string, value: string }} Pick */
/** @typedef {Readonly<Record<string, string>>} Data `data-` attributes of an element and of those around it, without `data-` */

/** @param {unknown} value @returns {value is Pattern} */
export const isPattern = (value) => typeof value === "object" && value !== null && "any_of" in value;

/** The values that a pick of this field may have. @param {unknown} value @returns {Set<string>} */
function itemsOf(value) {
  if (isPattern(value)) return new Set(value.any_of);
  if (Array.isArray(value)) return new Set(value.map(String));
  if (typeof value === "object" && value !== null) return new Set(Object.keys(value));
  return new Set([String(value)]);
}

/** How often a pick of this item may be repeated. @param {unknown} value @param {string} item */
function most(value, item) {
  if (isPattern(value) || Array.isArray(value) || typeof value !== "object" || value === null) return 1;
  return Number(/** @type {Record<string, unknown>} */ (value)[item] ?? 0);
}

/** Whether an action is still possible after these picks. @param {Action} action @param {readonly Pick[]} picks */
export function fits(action, picks) {
  return picks.every(({ field, value }) => {
    if (!(field in action) || !itemsOf(action[field]).has(value)) return false;
    const same = picks.filter((pick) => pick.field === field);
    const wanted = action[field];
    if (isPattern(wanted) && same.length > wanted.max) return false;
    return same.filter((pick) => pick.value === value).length <= most(wanted, value);
  });
}

/**
 * The picks after the person picked an element or a sentence.
 * Picking the same again takes it back; what contradicts the newest pick is dropped, oldest last.
 * @param {readonly Action[]} actions the legal list
 * @param {readonly Pick[]} picks
 * @param {Data} data
 * @returns {readonly Pick[]}
 */
export function pick(actions, picks, data) {
  const possible = actions.filter((action) => matchesAction(data, action));
  if (possible.length === 0) return picks;
  const narrowed = possible.filter((action) => fits(action, picks));
  const fields = new Set((narrowed.length > 0 ? narrowed : possible).flatMap((action) => sharedFields(data, action)));
  const added = [...fields].map((field) => ({ field, value: data[field] ?? "" }));
  const fresh = added.filter((one) => !picks.some((known) => isSame(known, one)));
  if (fresh.length > 0) return fitting(actions, fresh, picks);
  const more = fitting(actions, [...picks, ...added.filter((one) => isCounted(possible, one))], []);
  return more.length > picks.length ? more : picks.filter((known) => !added.some((one) => isSame(known, one)));
}

/** The newest picks, and of the older ones those that are possible beside them. @param {readonly Action[]} actions @param {readonly Pick[]} newest @param {readonly Pick[]} older */
function fitting(actions, newest, older) {
  let kept = newest.reduce((found, one) => (isPossible(actions, [...found, one]) ? [...found, one] : found), /** @type {Pick[]} */ ([]));
  for (const one of [...older].reverse()) {
    if (isPossible(actions, [one, ...kept])) kept = [one, ...kept];
  }
  return kept;
}

/** @param {readonly Action[]} actions @param {readonly Pick[]} picks */
const isPossible = (actions, picks) => actions.some((action) => fits(action, picks));

/** @param {Data} data @param {Action} action */
const sharedFields = (data, action) => Object.keys(data).filter((field) => field in action);

/** @param {Pick} one @param {Pick} other */
const isSame = (one, other) => one.field === other.field && one.value === other.value;

/** @param {readonly Action[]} actions @param {Pick} pick */
const isCounted = (actions, pick) => actions.some((action) => most(action[pick.field], pick.value) > 1);

/** Drop what the newest legal list does not allow any more. @param {readonly Action[]} actions @param {readonly Pick[]} picks */
export const stillPossible = (actions, picks) => (isPossible(actions, picks) ? picks : fitting(actions, [], picks));

/** The picks that lead to one entry of the list, without choosing from its patterns. @param {Action} action @returns {readonly Pick[]} */
export const picksOf = (action) =>
  Object.entries(action).flatMap(([field, value]) => (typeof value === "object" ? [] : [{ field, value: String(value) }]));

/** The first pattern of an action, with its field. @param {Action} action @returns {{ field: string, pattern: Pattern } | null} */
export function patternOf(action) {
  const found = Object.entries(action).find(([, value]) => isPattern(value));
  return found === undefined ? null : { field: found[0], pattern: /** @type {Pattern} */ (found[1]) };
}

/**
 * The action to send, with the picked items in place of patterns; null while a pattern needs more items.
 * @param {Action} action @param {readonly Pick[]} picks
 * @returns {Action | null}
 */
export function complete(action, picks) {
  /** @type {Action} */
  const made = { ...action };
  for (const [field, value] of Object.entries(action)) {
    if (!isPattern(value)) continue;
    const chosen = picks.filter((one) => one.field === field).map((one) => one.value);
    if (chosen.length < value.min || chosen.length > value.max) return null;
    made[field] = value.any_of.filter((item) => chosen.includes(item));
  }
  return made;
}
