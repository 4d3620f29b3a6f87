/** Dates and times in the language of the page. */
import { language } from "./words.js";

/** @param {number} ms server time */
export const date = (ms) => new Intl.DateTimeFormat(language.value, { dateStyle: "medium" }).format(ms);

/** @param {number} ms server time */
export const dateAndTime = (ms) => new Intl.DateTimeFormat(language.value, { dateStyle: "medium", timeStyle: "short" }).format(ms);
