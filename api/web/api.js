/** Requests to the API: the token, the language, problem documents as errors, and repeated commands. */
import { effect, signal } from "@preact/signals";
import { catchUp, forget, me, session } from "./session.js";
import { language, t } from "./words.js";

/** @import { ProblemDocument } from "./types.d.ts" */
/**
 * @typedef {object} Exchange one request or one frame of a stream, for the panel of client authors
 * @property {number} number
 * @property {"request" | "frame"} kind
 * @property {string} method
 * @property {string} path
 * @property {unknown} body
 * @property {string | null} key
 * @property {number | null} status
 * @property {number} ms
 * @property {unknown} value what was received
 */
/** @typedef {string | undefined} PlayerId undefined for nobody */
/**
 * @typedef {{ body?: unknown, key?: string, accept?: string, signal?: AbortSignal, token?: string, player?: PlayerId }} Options
 *   `token`: in place of this browser's; `player`: whose request this is, by default that of who is signed in now
 */

const JSON_TYPE = "application/json";
const KEPT = 100;
/** An answer takes milliseconds. A request without one for this long met a network that is gone. */
const LONGEST_MS = 10_000;
/** Conflicts that pass by themselves: other commands were first, or a bot is about to move. */
const REPEATABLE = new Set(["version-conflict", "bot-deciding"]);
/** Fields of bodies that let others in. */
const SECRETS = new Set(["token", "recovery_code", "join_code"]);
const REPEAT_MS = 30_000;
const LONGEST_WAIT_MS = 5_000;

/** The address of the API, without the version: the page may be served below any path. */
export const BASE = new URL(".", document.baseURI).href.replace(/\/$/, "");

/** The latest exchanges, oldest first. @type {import("@preact/signals").Signal<readonly Exchange[]>} */
export const exchanges = signal([]);
let counted = 0;
effect(() => {
  void me.value;
  exchanges.value = []; // they may have what only the former player may see
});

/** A refusal of the service. The message says what is wrong, in the language of the page where the service knows it. */
export class Problem extends Error {
  /** @param {ProblemDocument} document @param {number | null} retryMs */
  constructor(document, retryMs = null) {
    super(document.detail || document.title);
    this.document = document;
    this.code = document.code;
    this.status = document.status;
    this.retryMs = retryMs;
  }

  /** Whether the same request may succeed later without a change. */
  get isTransient() {
    return this.status >= 500 || this.status === 429 || REPEATABLE.has(this.code);
  }
}

/** The service did not answer, or its answer was cut off, or something else answered in its place. */
export class Unreachable extends Error {
  isTransient = true;
  constructor() {
    super(t("unreachable"));
  }
}

/** Somebody else is signed in by now, for whom the request was not meant. */
export class OtherPlayer extends Error {
  constructor() {
    super(t("other_player"));
  }
}

/** Whether the same request may succeed later without a change. @param {unknown} error */
export const isTransient = (error) => error instanceof Unreachable || (error instanceof Problem && error.isTransient);

/**
 * Keep an exchange for the panel, if its player is still signed in. A person might share what the panel shows by accident, so
 * it has no secrets.
 * @param {Omit<Exchange, "number">} exchange @param {PlayerId} player
 */
export function record({ body, value, ...others }, player) {
  if (player !== me.value) return;
  exchanges.value = [...exchanges.value.slice(1 - KEPT), { ...others, number: (counted += 1), body: withoutSecrets(body), value: withoutSecrets(value) }];
}

/**
 * Send a request once.
 * @param {string} method
 * @param {string} path begins with /v1
 * @param {Options} [options]
 * @returns {Promise<Response>} a successful one
 * @throws {OtherPlayer} if `player` is not signed in any more; then nothing is sent for another one
 */
export async function send(method, path, options = {}) {
  const { body, key, accept = JSON_TYPE, signal, player = me.value, token = session.value?.token ?? null } = options;
  if (options.token === undefined && player !== me.value) throw new OtherPlayer();
  /** @type {Record<string, string>} */
  const headers = { Accept: accept, "Accept-Language": language.value };
  if (token !== null) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key !== undefined) headers["Idempotency-Key"] = key;
  const text = body === undefined ? null : JSON.stringify(body);
  let response;
  try {
    response = await fetch(BASE + path, { method, headers, body: text, signal: signal ?? null, credentials: "omit" });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Unreachable();
  }
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (problem.code === "token-invalid" && token !== null && options.token === undefined) {
    catchUp();
    if (player !== me.value) throw new OtherPlayer();
    if (session.value !== null && session.value.token !== token) return send(method, path, { ...options, player }); // it was renewed meanwhile
    forget(token, { refused: true });
  }
  throw problem;
}

/** @param {Response} response */
async function problemOf(response) {
  const wait = Number(response.headers.get("Retry-After"));
  const retryMs = wait > 0 ? wait * 1000 : null;
  try {
    const document = await response.json();
    if (typeof document.code === "string") return new Problem(document, retryMs);
  } catch {
    // It has no JSON.
  }
  // A proxy answered.
  const { status, statusText } = response;
  return new Problem({ status, code: "unknown", title: statusText, detail: `${status} ${statusText}`.trim() }, retryMs);
}

/** A value without the secrets anywhere in it. @param {unknown} value @returns {unknown} */
const withoutSecrets = (value) =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value, (name, part) => (SECRETS.has(name) && part !== null ? "…" : part)));

/**
 * Send a request and record it.
 * @param {string} method @param {string} path @param {Options} [options]
 * @returns {Promise<any>} the JSON of the answer, or its text if another type was asked for; null without a body
 */
async function exchange(method, path, options = {}) {
  const began = performance.now();
  const player = me.value;
  const noted = { kind: /** @type {const} */ ("request"), method, path, body: options.body, key: options.key ?? null };
  const spent = () => Math.round(performance.now() - began);
  const late = AbortSignal.timeout(LONGEST_MS);
  const signal = options.signal === undefined ? late : AbortSignal.any([options.signal, late]);
  try {
    const response = await send(method, path, { ...options, signal });
    const value = await valueOf(response, options.accept ?? JSON_TYPE);
    record({ ...noted, status: response.status, ms: spent(), value }, player);
    return value;
  } catch (error) {
    if (error instanceof Problem) record({ ...noted, status: error.status, ms: spent(), value: error.document }, player);
    if (late.aborted && !options.signal?.aborted) throw new Unreachable();
    throw error;
  }
}

/**
 * What an answer has in its body: the value of JSON, the text of another type, or null.
 * @param {Response} response @param {string} accept the type that was asked for
 * @throws {Unreachable} if it was cut off, or has another type
 */
async function valueOf(response, accept) {
  try {
    const text = await response.text();
    if (text === "") return null;
    if (!response.headers.get("Content-Type")?.startsWith(accept)) throw new TypeError(`no ${accept}`);
    return accept === JSON_TYPE ? JSON.parse(text) : text;
  } catch {
    throw new Unreachable();
  }
}

/** @param {string} path @param {Options} [options] @returns {Promise<any>} */
export const get = (path, options) => exchange("GET", path, options);

/** @param {string} path @param {Options} [options] @returns {Promise<any>} */
export const remove = (path, options) => exchange("DELETE", path, options);

/** 128 random bits; `crypto.randomUUID` exists only on pages with TLS. */
const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * Send a command that the service applies once, however often it is sent: it is repeated while nothing is known about its
 * outcome, with the same key and for the same player.
 * @param {string} path @param {unknown} [body] @param {PlayerId} [player] @returns {Promise<any>}
 */
export function command(path, body = {}, player = me.value) {
  const key = newKey();
  return repeated(() => exchange("POST", path, { body, key, player }));
}

/** Repeat a request for a while if it fails for a reason that passes. @template T @param {() => Promise<T>} work @returns {Promise<T>} */
export async function repeated(work) {
  const latest = performance.now() + REPEAT_MS;
  for (let wait = 250; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    try {
      return await work();
    } catch (error) {
      const pause = (error instanceof Problem && error.retryMs) || wait;
      if (!isTransient(error) || pause > LONGEST_WAIT_MS || performance.now() + pause > latest) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

/**
 * Send a command for which the service keeps no key, once.
 * @param {string} path @param {unknown} [body] @param {Options} [options] @returns {Promise<any>}
 */
export const post = (path, body = {}, options = {}) => exchange("POST", path, { ...options, body });

/** @param {string} path @param {unknown} body @returns {Promise<any>} */
export const patch = (path, body) => exchange("PATCH", path, { body });
