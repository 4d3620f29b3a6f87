// The part of the service's API that a bot needs, with nothing but Node.

const TIMEOUT_MS = 15_000; // the service sends something every few seconds
const RETRY_DELAY_MS = 1_000;
const SAME_NOTE_AFTER_MS = 60_000; // the same delay is printed again only after so long
const TEMPORARY = new Set([429, 502, 503, 504]);

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// The service answered with a problem. `code` is stable; the message says what is wrong and what would be right.
export class Refused extends Error {
  constructor(problem, status, retryAfter) {
    super(problem.detail ?? problem.title ?? `status ${status}`);
    this.code = problem.code ?? "";
    this.isTemporary = TEMPORARY.has(status);
    this.retryAfterMs = retryAfter ? 1000 * Number(retryAfter) : RETRY_DELAY_MS;
  }
}

// The service does not answer; the message says why.
export class NoService extends Error {}

// One player of a service. `url` is such as http://127.0.0.1:8080; `token` is that of an existing player.
export class Client {
  #noted = new Map();

  constructor(url, token = "") {
    this.url = `${url.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1`;
    this.token = token;
  }

  // Create a player, and be that player from now on. Throws Refused, and NoService.
  async signUp(name) {
    this.token = (await this.#first("/players", { name })).token;
  }

  // Ask who this player is. Throws Refused if the token is wrong, and NoService.
  async check() {
    await this.#first("/me", undefined);
  }

  get(path) {
    return this.#repeated(path, undefined, {});
  }

  // Send a command. It is repeated until it is answered; with the same key it is carried out only once. Throws Refused.
  post(path, body, key) {
    return this.#repeated(path, body, { "Idempotency-Key": key });
  }

  // The frames of the player's stream, forever. It connects again after each interruption, and misses nothing.
  async *frames() {
    let after = "";
    for (;;) {
      const silence = new AbortController();
      let timer = setTimeout(() => silence.abort(), TIMEOUT_MS);
      try {
        const path = `/me/stream?include=legal_actions${after}`;
        const response = await this.#open(path, undefined, { Accept: "application/x-ndjson" }, silence.signal);
        let text = "";
        const decoder = new TextDecoder();
        for await (const part of response.body) {
          clearTimeout(timer);
          timer = setTimeout(() => silence.abort(), TIMEOUT_MS);
          const lines = (text + decoder.decode(part, { stream: true })).split("\n");
          text = lines.pop();
          for (const line of lines.filter((one) => one.trim())) {
            const frame = JSON.parse(line);
            if (frame.cursor) after = `&after=${frame.cursor}`;
            yield frame;
          }
        }
      } catch (error) {
        if (error instanceof Refused && !error.isTemporary) throw error;
        this.#note(`connecting again: ${error.cause?.message || error.message}`);
      } finally {
        clearTimeout(timer);
        silence.abort();
      }
      await sleep(RETRY_DELAY_MS);
    }
  }

  // The answer to the first request. It is not repeated, because the address may be wrong.
  async #first(path, body) {
    try {
      return await (await this.#open(path, body, {}, AbortSignal.timeout(TIMEOUT_MS))).json();
    } catch (error) {
      if (error instanceof Refused) throw error;
      throw new NoService(error.cause?.message || error.message);
    }
  }

  async #repeated(path, body, headers) {
    for (;;) {
      try {
        return await (await this.#open(path, body, headers, AbortSignal.timeout(TIMEOUT_MS))).json();
      } catch (error) {
        if (error instanceof Refused && !error.isTemporary) throw error;
        this.#note(`sending again: ${error.cause?.message || error.message}`);
        await sleep(error.retryAfterMs ?? RETRY_DELAY_MS);
      }
    }
  }

  // Print what delays the bot.
  #note(text) {
    const now = Date.now();
    if (now - (this.#noted.get(text) ?? -Infinity) < SAME_NOTE_AFTER_MS) return;
    this.#noted.set(text, now);
    console.log(text);
  }

  async #open(path, body, headers, signal) {
    const every = { "Content-Type": "application/json", ...(this.token && { Authorization: `Bearer ${this.token}` }) };
    const sent = body && { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(this.url + path, { ...sent, headers: { ...every, ...headers }, signal });
    if (response.ok) return response;
    const problem = await response.json().catch(() => ({}));
    throw new Refused(problem, response.status, response.headers.get("Retry-After"));
  }
}
