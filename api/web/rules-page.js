/** The rules of a game, as the API gives them. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { readGame } from "./games.js";
import { html } from "./html.js";
import { markdown } from "./markdown.js";
import { Failure, useTask } from "./task.js";
import { language, t } from "./words.js";

/** @import { Game } from "./types.d.ts" */

/** @param {{ id: string }} props */
export function RulesPage({ id }) {
  const game = useSignal(/** @type {Game | null} */ (null));
  const task = useTask();
  useEffect(() => void task.run(async () => void (game.value = await readGame(id))), []);
  if (game.value === null) {
    return html`<h1 tabindex="-1">${t("rules")}</h1>
      ${task.problem.value === null ? html`<p role="status" class="soft">${t("loading")}</p>` : html`<${Failure} task=${task} />`}`;
  }
  const [title, ...rules] = markdown(game.value.rules);
  return html`<div class="rules" lang="en">${title}<p class="soft" lang=${language.value}>${t("rules_why")}</p>${rules}</div>`;
}
