/** The account of this browser: made when one is needed, and signed out. */
import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { post, remove } from "./api.js";
import { html } from "./html.js";
import { forget, keep, session, wasEnded } from "./session.js";
import { t } from "./words.js";

const LONGEST_NAME = 40;

/** Resolves the question for a name: with whether there is a player now. @type {import("@preact/signals").Signal<((isThere: boolean) => void) | null>} */
const asked = signal(null);

/** Make sure that there is a player, by asking for a name if there is none. @returns {Promise<boolean>} */
export function needPlayer() {
  if (session.value !== null) return Promise.resolve(true);
  return new Promise((resolve) => (asked.value = resolve));
}

/** Revoke the token of this browser and forget it. Without an answer of the service it is only forgotten. */
async function signOut() {
  const token = session.value?.token;
  if (token === undefined) return;
  try {
    await remove("/v1/me/tokens/current");
  } finally {
    forget(token);
  }
}

/** The name of the player, or the way to get one. */
export function Account() {
  const player = session.value?.player;
  if (player === undefined) return html`<button type="button" class="plain" onClick=${needPlayer}>${t("sign_up")}</button>`;
  return html`<span class="account">
    <span class="name">${player.name}</span>
    <button type="button" class="plain" onClick=${() => signOut().catch(() => {})} title=${t("sign_out_why")}>${t("sign_out")}</button>
  </span>`;
}

/** Says that the service refused the token of this browser. */
export const SessionEnded = () =>
  html`<div role="status">
    ${wasEnded.value &&
    html`<p class="notice">${t("session_ended")} <button type="button" class="plain" onClick=${() => (wasEnded.value = false)}>${t("close")}</button></p>`}
  </div>`;

/** The question for a name. */
export function SignUp() {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const problem = useSignal(/** @type {Error | null} */ (null));
  const isAsked = asked.value !== null;
  useEffect(() => {
    if (isAsked) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isAsked]);

  /** @param {boolean} isThere */
  const answer = (isThere) => {
    asked.value?.(isThere);
    asked.value = null;
    problem.value = null;
  };
  /** @param {SubmitEvent} event */
  const submit = async (event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    try {
      keep(await post("/v1/players", { name: String(form.get("name")).trim() }));
      answer(true);
    } catch (error) {
      problem.value = /** @type {Error} */ (error);
    }
  };
  return html`<dialog ref=${dialog} onClose=${() => answer(session.value !== null)} aria-labelledby="sign-up">
    <form onSubmit=${submit}>
      <h2 id="sign-up">${t("your_name")}</h2>
      <p class="soft">${t("your_name_why")}</p>
      <label><span>${t("name")}</span><input name="name" required maxlength=${LONGEST_NAME} autocomplete="nickname" /></label>
      <div role="alert">${problem.value && html`<p class="problem">${problem.value.message}</p>`}</div>
      <div class="row end">
        <button type="button" class="plain" onClick=${() => answer(false)}>${t("cancel")}</button>
        <button class="primary">${t("go_on")}</button>
      </div>
    </form>
  </dialog>`;
}
