/** The web client: the page by the address behind `#`, the head with the account, and the language. */
import { render } from "preact";
import { effect, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Account, SessionEnded, SignUp } from "./account.js";
import { Create } from "./create.js";
import { html } from "./html.js";
import { Lobby } from "./lobby.js";
import { turns } from "./notices.js";
import { ReplayPage } from "./replay-page.js";
import { Table } from "./table.js";
import { language, LANGUAGES, speak, t } from "./words.js";

/** @typedef {{ page: string, id: string, query: URLSearchParams }} Route */

const NAME = "Moonstone";

/** `#/match/ID?code=CODE` and the like. @returns {Route} */
function read() {
  const [path = "", query] = location.hash.replace(/^#\/?/, "").split("?");
  const [page = "", id = ""] = path.split("/").map(decodeURIComponent);
  return { page, id, query: new URLSearchParams(query) };
}

const route = signal(read());
addEventListener("hashchange", () => (route.value = read()));

effect(() => {
  document.documentElement.lang = language.value;
  document.title = turns.value > 0 ? `(${turns.value}) ${t("your_turn")} – ${NAME}` : NAME;
});

function Page() {
  const { page, id, query } = route.value;
  if (page === "match" && id) return html`<${Table} key=${id} id=${id} query=${query} />`;
  if (page === "replay" && id) return html`<${ReplayPage} key=${id} id=${id} query=${query} />`;
  if (page === "new") return html`<${Create} query=${query} />`;
  return html`<${Lobby} />`;
}

function App() {
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  const { page, id } = route.value;
  const first = useRef(true);
  useEffect(() => {
    if (!first.current) main.current?.focus();
    first.current = false;
  }, [page, id]);
  return html`
    <a class="skip" href="#main" onClick=${(/** @type {Event} */ event) => (event.preventDefault(), main.current?.focus())}>${t("skip")}</a>
    <header>
      <a class="brand" href="#/"><span class="moon" aria-hidden="true"></span>${NAME}</a>
      ${turns.value > 0 && page !== "match" && html`<a class="tag turn" href="#/">${t("turns_waiting", { count: turns.value })}</a>`}
      <span class="grow"></span>
      <${Languages} />
      <${Account} />
    </header>
    <${SessionEnded} />
    <main ref=${main} tabindex="-1" id="main"><${Page} /></main>
    <footer><a href="docs">${t("reference")}</a></footer>
    <${SignUp} />
  `;
}

const Languages = () =>
  html`<span class="languages" role="group" aria-label=${t("language")}>
    ${Object.entries(LANGUAGES).map(
      ([code, name]) => html`<button type="button" class="plain" key=${code} lang=${code} aria-pressed=${language.value === code} onClick=${() => speak(code)}>
        ${name}
      </button>`,
    )}
  </span>`;

const root = document.getElementById("app");
if (root !== null) render(html`<${App} />`, root);
