/** For authors of clients: every request with its curl, the frames of the stream, and the legal list, as they are. */
import { useSignal } from "@preact/signals";
import { BASE, exchanges } from "./api.js";
import { Copy } from "./copy.js";
import { html } from "./html.js";
import { session } from "./session.js";
import { t } from "./words.js";

/** @import { Exchange } from "./api.js" */
/** @import { Live } from "./live.js" */

const SHOWN = 40;

/** The request as a command for a shell. The token is a variable, so that nobody shares it by accident. @param {Exchange} exchange */
export function curlOf({ method, path, body, key, kind }) {
  const parts = ["curl"];
  if (kind === "frame") parts.push("-N", "-H", quoted("Accept: application/x-ndjson"));
  else if (method !== "GET") parts.push("-X", method);
  if (session.value !== null) parts.push("-H", '"Authorization: Bearer $TOKEN"');
  if (key !== null) parts.push("-H", quoted(`Idempotency-Key: ${key}`));
  if (body !== undefined) parts.push("-H", quoted("Content-Type: application/json"), "-d", quoted(JSON.stringify(body)));
  return [...parts, quoted(BASE + path)].join(" ");
}

/** @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** @param {{ live: Live }} props */
export function Panel({ live }) {
  const listed = [...exchanges.value].reverse();
  const requests = listed.filter((one) => one.kind === "request").slice(0, SHOWN);
  const frames = listed.filter((one) => one.kind === "frame").slice(0, SHOWN);
  return html`
    <p class="soft">${t("for_authors_why")} <a href="docs">/docs</a></p>
    ${session.value !== null && html`<${Copy} text=${session.value.token} label=${t("copy_token")} />`}
    <h3>${t("requests")}</h3>
    ${requests.map((one) => html`<${Entry} key=${one.number} exchange=${one} />`)}
    <h3>${t("frames")}</h3>
    ${frames.map((one) => html`<${Entry} key=${one.number} exchange=${one} />`)}
    <h3>${t("legal_list", { count: live.actions.value.length })}</h3>
    <${Json} value=${live.actions.value} />
  `;
}

/** @param {{ exchange: Exchange }} props */
function Entry({ exchange }) {
  const isShown = useSignal(false);
  const curl = curlOf(exchange);
  const { kind, method, path, status, ms, value } = exchange;
  const name = kind === "frame" ? `${/** @type {any} */ (value).type} ${/** @type {any} */ (value).version ?? ""}` : `${method} ${path}`;
  return html`<details class="exchange" onToggle=${(/** @type {any} */ event) => (isShown.value = event.currentTarget.open)}>
    <summary><code>${name}</code>${status !== null && html` <span class="soft">${status} · ${ms} ms</span>`}</summary>
    ${isShown.value &&
    html`<pre class="curl" tabindex="0"><code>${curl}</code></pre>
      <${Copy} text=${curl} label=${t("copy")} />
      <${Json} value=${value} />`}
  </details>`;
}

/** @param {{ value: unknown }} props */
const Json = ({ value }) =>
  html`<pre tabindex="0"><code>${typeof value === "string" ? value : JSON.stringify(value, null, 1)}</code></pre>`;
