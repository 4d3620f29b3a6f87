/** The texts of the replay, in English and German. They are apart from the other texts so that only a page with a replay loads them. */
import { filled, language } from "./words.js";

/** @import { Seat } from "./types.d.ts" */

const EN = {
  replay: "Replay",
  first: "First version",
  back: "One version back",
  play: "Play",
  pause: "Pause",
  forward: "One version forward",
  last: "Last version",
  version: "Version {version} of {last}",
  seenBy: "Seen by",
  spectator: "A spectator",
  seat: "Seat {seat}",
  named: "{name} · seat {seat}",
  everyone: "All seats, as known now",
  marks: "Mark what changed",
  link: "Link to this version",
  points: "Points if the match ended here",
  curve: "Points of each seat over the match. At the end: {points}.",
  events: "Events",
  clauses: "Rules: {clauses}",
  loading: "Loading …",
  keys: "Keys: ← and → go one version, with Shift ten.",
  passed: "Checked, and all holds:",
  partly: "Checked so far:",
  failed: "Version {version} fails the check “{check}”: {detail}.",
  leftOut: "What comes after it proves nothing and is left out.",
  goThere: "Go to the version before",
  board: "The table",
  "result.passed": "holds",
  "result.failed": "fails",
  "result.not_yet": "only after the end",
  "result.not_checked": "not checked",
  "check.chain": "chain",
  "check.draws": "draws",
  "check.effects": "effects",
  "check.actions": "actions",
  "check.outcome": "outcome",
};

/** @type {typeof EN} */
const DE = {
  replay: "Verlauf",
  first: "Erste Version",
  back: "Eine Version zurück",
  play: "Abspielen",
  pause: "Anhalten",
  forward: "Eine Version vor",
  last: "Letzte Version",
  version: "Version {version} von {last}",
  seenBy: "Gesehen von",
  spectator: "Jemand, der zuschaut",
  seat: "Platz {seat}",
  named: "{name} · Platz {seat}",
  everyone: "Alle Plätze, was jetzt bekannt ist",
  marks: "Änderungen markieren",
  link: "Link auf diese Version",
  points: "Punkte, wenn die Partie hier endete",
  curve: "Punkte jedes Platzes im Lauf der Partie. Am Ende: {points}.",
  events: "Ereignisse",
  clauses: "Regeln: {clauses}",
  loading: "Lädt …",
  keys: "Tasten: ← und → gehen eine Version weit, mit Umschalt zehn.",
  passed: "Geprüft, und alles stimmt:",
  partly: "Bisher geprüft:",
  failed: "Version {version} besteht die Prüfung „{check}“ nicht: {detail}.",
  leftOut: "Was danach kommt, beweist nichts und fehlt hier.",
  goThere: "Zur Version davor",
  board: "Der Tisch",
  "result.passed": "stimmt",
  "result.failed": "stimmt nicht",
  "result.not_yet": "erst nach dem Ende",
  "result.not_checked": "nicht geprüft",
  "check.chain": "Kette",
  "check.draws": "Ziehungen",
  "check.effects": "Wirkungen",
  "check.actions": "Züge",
  "check.outcome": "Ergebnis",
};

const TEXTS = { en: EN, de: DE };

/** @typedef {keyof typeof EN} Key */

/** A text in the language of the page, with its `{placeholders}` filled in. @param {Key} key @param {Record<string, unknown>} [values] */
export const t = (key, values = {}) => filled(TEXTS[language.value][key], values);

/** What a viewer is called: the player's name, with the seat if two have the same name. @param {readonly Seat[]} seats @param {number | null} viewer */
export function seatName(seats, viewer) {
  if (viewer === null) return t("spectator");
  const name = seats[viewer]?.name;
  if (!name) return t("seat", { seat: viewer });
  return seats.some((one) => one.seat !== viewer && one.name === name) ? t("named", { seat: viewer, name }) : name;
}
