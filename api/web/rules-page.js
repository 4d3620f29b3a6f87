/** The rules of a game, as the API gives them. */
import { readGame } from "./games.js";
import { html } from "./html.js";
import { useLoaded } from "./loaded.js";
import { markdown } from "./markdown.js";
import { Fault } from "./task.js";
import { language, t } from "./words.js";

/** @param {{ id: string }} props */
export function RulesPage({ id }) {
  const { value: game, fault } = useLoaded(() => readGame(id), []);
  if (game === null) {
    return html`<h1 tabindex="-1">${t("rules")}</h1>
      ${fault === null ? html`<p role="status" class="soft">${t("loading")}</p>` : html`<${Fault} fault=${fault} />`}`;
  }
  const [title, ...rules] = markdown(game.rules);
  return html`<div class="rules" lang="en">${title}<p class="soft" lang=${language.value}>${t("rules_why")}</p>${rules}</div>`;
}
