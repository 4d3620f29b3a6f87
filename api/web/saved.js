/** The page that `moonstone view` writes: one match with all its pictures and texts, and no network. */
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { html } from "./html.js";
import { queryOf, Replay, usePlace } from "./replay.js";
import { sourceOf } from "./saved-source.js";
import { language, LANGUAGES, speak, t } from "./words.js";

/** @import { Place } from "./replay.js" */
/** @import { Saved } from "./saved-source.js" */

/** The data of the page: JSON, compressed with gzip, in base64. @returns {Promise<Saved>} */
async function unpack() {
  const bytes = Uint8Array.from(atob(document.getElementById("replay")?.textContent ?? ""), (one) => one.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

/** @param {{ saved: Saved }} props */
function Page({ saved }) {
  const [source] = useState(() => sourceOf(saved));
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const follow = () => setFragment(location.hash);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    document.documentElement.lang = language.value;
  }, [language.value]);
  /** @param {Place} to */
  const link = (to) => `#${queryOf(to)}`;
  const [place, onPlace] = usePlace(fragment.slice(1), link);
  const languages = Object.entries(LANGUAGES).map(
    ([code, name]) =>
      html`<button type="button" class="plain" lang=${code} aria-pressed=${language.value === code} onClick=${() => speak(code)}>
        ${name}
      </button>`,
  );
  return html`<header>
      <span class="brand"><span class="moon" aria-hidden="true"></span>${saved.title}</span>
      <span class="soft">${saved.match.id}</span>
      <span class="grow"></span>
      <span class="languages" role="group" aria-label=${t("language")}>${languages}</span>
    </header>
    <main>
      <h1 class="visually-hidden">${saved.title}</h1>
      <${Replay} source=${source} language=${language.value} place=${place} onPlace=${onPlace} link=${link} />
    </main>`;
}

const page = document.getElementById("app");
const saved = await unpack();
if (page !== null) render(html`<${Page} saved=${saved} />`, page);
