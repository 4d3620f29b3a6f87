/** The web client: the page by the address behind `#`, the head with the account, and the language. */
import { render } from "preact";
import { effect, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Account, SessionEnded, SignUp } from "./account.js";
import { html } from "./html.js";
import { later } from "./later.js";
import { turns } from "./notices.js";
import { keepValid } from "./tokens.js";
import { language, LANGUAGES, speak, t } from "./words.js";

/** @typedef {{ page: string, id: string, query: URLSearchParams }} Route */

const NAME = "Moonstone";

/** The pages; "" is the lobby. @type {Record<string, Function>} */
const PAGES = {
  "": later(() => import("./lobby.js").then((module) => module.Lobby)),
  account: later(() => import("./account-page.js").then((module) => module.AccountPage)),
  leaderboard: later(() => import("./leaderboard.js").then((module) => module.LeaderboardPage)),
  match: later(() => import("./table.js").then((module) => module.Table)),
  new: later(() => import("./create.js").then((module) => module.Create)),
  player: later(() => import("./player-page.js").then((module) => module.PlayerPage)),
  rules: later(() => import("./rules-page.js").then((module) => module.RulesPage)),
  replay: later(() => import("./replay-page.js").then((module) => module.ReplayPage)),
};
/** Ids have only these characters: no text from an address can lead a request elsewhere. */
const ID = /^[\w-]*$/;

/** `#/match/ID?code=CODE` and the like; the lobby for any other. @returns {Route} */
function read() {
  const [path = "", query] = location.hash.replace(/^#\/?/, "").split("?");
  const [page = "", id = ""] = path.split("/");
  const isKnown = Object.hasOwn(PAGES, page) && ID.test(id);
  return isKnown ? { page, id, query: new URLSearchParams(query) } : { page: "", id: "", query: new URLSearchParams() };
}

const route = signal(read());
addEventListener("hashchange", () => (route.value = read()));

effect(() => {
  document.documentElement.lang = language.value;
});

/** The title of the page is its heading, after the number of matches that wait for the player. */
function nameTab() {
  const heading = document.querySelector("main h1")?.textContent;
  const turn = turns.value > 0 ? `(${turns.value}) ` : "";
  document.title = heading ? `${turn}${heading} – ${NAME}` : turn + NAME;
}
effect(nameTab);
new MutationObserver(nameTab).observe(document.body, { childList: true, subtree: true, characterData: true });

function Page() {
  const { page, id, query } = route.value;
  return html`<${PAGES[page]} key=${page + id} id=${id} query=${query} />`;
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

keepValid();
const root = document.getElementById("app");
if (root !== null) render(html`<${App} />`, root);
