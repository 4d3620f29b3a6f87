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
export function t(key, values = {}) {
  return TEXTS[language.value][key].replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}
