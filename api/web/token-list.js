/** The tokens of the account: those of browsers, and those that programs use. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { get, post, remove } from "./api.js";
import { CopyField } from "./copy.js";
import { date, dateAndTime } from "./dates.js";
import { html } from "./html.js";
import { useLoaded } from "./loaded.js";
import { Sure } from "./sure.js";
import { Failure, Fault, useTask } from "./task.js";
import { t } from "./words.js";

/** @import { Token } from "./types.d.ts" */

/** What programs may get: to watch, to play, or everything. @type {readonly { name: "watch" | "play" | "all", scopes: readonly string[] }[]} */
const RIGHTS = [
  { name: "play", scopes: ["watch", "play"] },
  { name: "watch", scopes: ["watch"] },
  { name: "all", scopes: ["watch", "play", "bots", "account"] },
];
const DAY_S = 86_400;
const LIFETIMES_S = [90 * DAY_S, 7 * DAY_S, 365 * DAY_S, null];
const LONGEST_LABEL = 64;

export function Tokens() {
  const changes = useSignal(0);
  const { value, fault } = useLoaded(() => get("/v1/me/tokens"), [changes.value]);
  const tokens = /** @type {readonly Token[]} */ (value?.tokens ?? []);
  const task = useTask();
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  /** @param {string} id a token's, or `others` */
  const revoke = (id) =>
    task.run(async () => {
      await remove(`/v1/me/tokens/${id}`);
      changes.value += 1;
      heading.current?.focus(); // the button goes
    });
  const others = tokens.filter((token) => !token.current);
  return html`<section class="card" aria-labelledby="tokens">
    <h2 id="tokens" tabindex="-1" ref=${heading}>${t("tokens")}</h2>
    <p class="soft">${t("tokens_why")}</p>
    <${Fault} fault=${task.problem.value ?? fault} />
    <ul class="tokens">
      ${tokens.map((token) => html`<li key=${token.id} class="token"><${Entry} token=${token} isBusy=${task.isBusy.value} revoke=${() => revoke(token.id)} /></li>`)}
    </ul>
    ${others.length > 0 &&
    html`<${Sure} label=${t("revoke_others")} why=${t("revoke_others_why")} yes=${t("revoke_others")} no=${t("cancel")} isBusy=${task.isBusy.value} act=${() => revoke("others")} />`}
    <${NewToken} onMade=${() => (changes.value += 1)} />
  </section>`;
}

/** @param {{ token: Token, isBusy: boolean, revoke: () => void }} props */
function Entry({ token, isBusy, revoke }) {
  const label = token.label || t("no_label");
  const facts = [
    token.created_at === null ? null : t("token_created", { date: date(token.created_at) }),
    token.last_used_at === null ? t("token_unused") : t("token_used", { date: dateAndTime(token.last_used_at) }),
    token.expires_at === null ? t("token_endless") : t("token_expires", { date: date(token.expires_at) }),
  ];
  return html`<div>
      <strong>${label}</strong> ${token.current && html`<span class="tag">${t("this_browser")}</span>`}
      <div class="soft">${token.scopes.join(", ")}</div>
      <div class="soft">${facts.filter(Boolean).join(" · ")}</div>
    </div>
    ${!token.current && html`<button type="button" class="plain" aria-label=${t("revoke_token", { label })} aria-disabled=${isBusy} onClick=${revoke}>${t("revoke")}</button>`}`;
}

/** A token for a program. @param {{ onMade: () => void }} props */
function NewToken({ onMade }) {
  const task = useTask();
  const made = useSignal("");
  /** @param {any} event */
  const submit = (event) => {
    event.preventDefault();
    const form = event.currentTarget;
    task.run(async () => {
      const body = {
        label: form.elements.label.value.trim(),
        scopes: RIGHTS[form.elements.rights.selectedIndex]?.scopes,
        expires_in: LIFETIMES_S[form.elements.lifetime.selectedIndex],
      };
      made.value = (await post("/v1/me/tokens", body)).token;
      form.reset();
      onMade();
    });
  };
  return html`<details class="new-token">
    <summary>${t("new_token")}</summary>
    <p class="soft">${t("new_token_why")}</p>
    <form onSubmit=${submit}>
      <label><span>${t("label")}</span><input name="label" required maxlength=${LONGEST_LABEL} autocomplete="off" /></label>
      <label><span>${t("rights")}</span>
        <select name="rights">
          ${RIGHTS.map(({ name }) => html`<option key=${name}>${t(/** @type {any} */ (`rights_${name}`))}</option>`)}
        </select>
      </label>
      <label><span>${t("lifetime")}</span>
        <select name="lifetime">
          ${LIFETIMES_S.map((seconds) => html`<option key=${seconds}>${seconds === null ? t("lifetime_endless") : t("days", { count: seconds / DAY_S })}</option>`)}
        </select>
      </label>
      <${Failure} task=${task} />
      <button aria-disabled=${task.isBusy.value}>${t("make_token")}</button>
    </form>
    <div role="status">
      ${made.value !== "" &&
      html`<p>${t("token_made")}</p><${CopyField} text=${made.value} label=${t("new_token")} />`}
    </div>
  </details>`;
}
