/** The language of the page, and the client's own texts in it. */
import { signal } from "@preact/signals";
import { EN } from "./english.js";
import { DE } from "./german.js";

/** @typedef {keyof typeof EN} Key */

const TEXTS = { en: EN, de: DE };
/** The languages, each by its own name. */
export const LANGUAGES = { en: "English", de: "Deutsch" };
const KEY = "moonstone.language";

/** @param {string} code @returns {code is keyof typeof TEXTS} */
const isKnown = (code) => Object.hasOwn(TEXTS, code);

/** The language of the page: the one chosen here, or else the first of the browser's that there is. */
export const language = signal(preferred());

/** @returns {keyof typeof TEXTS} */
function preferred() {
  const wanted = [kept(), ...navigator.languages].map((code) => code.slice(0, 2).toLowerCase());
  return wanted.find(isKnown) ?? "en";
}

function kept() {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return ""; // storage is forbidden
  }
}

/** Change the language of the page. @param {string} code */
export function speak(code) {
  if (!isKnown(code)) return;
  language.value = code;
  try {
    localStorage.setItem(KEY, code);
  } catch {
    // Then the choice lasts as long as the page.
  }
}

/** A text in the language of the page, with its `{placeholders}` filled in. @param {Key} key @param {Record<string, string | number>} [values] */
export const t = (key, values = {}) => filled(TEXTS[language.value][key], values);

/** A text with its `{placeholders}` filled in. @param {string} text @param {Record<string, unknown>} values */
export const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => isolated(String(values[name] ?? "")));

/** Letters that are written from right to left. */
const FROM_RIGHT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** A name as a part of another text, which keeps its order whatever the name is written in. @param {string} name */
export const isolated = (name) => (FROM_RIGHT.test(name) ? `\u2068${name}\u2069` : name);
