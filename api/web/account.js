/** The account in the head of the page, and the dialog that makes one when one is needed, or gets one back. */
import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { CopyField } from "./copy.js";
import { html } from "./html.js";
import { acknowledgeEnd, session, wasEnded } from "./session.js";
import { Failure, useTask } from "./task.js";
import { recover, signOut, signUp, useToken } from "./tokens.js";
import { t } from "./words.js";

export const LONGEST_NAME = 40;
/** Tokens; what has other characters can be in no header, and is refused as a recovery code. */
const TOKEN = /^moon_[!-~]*$/;

/** Resolves the question for a player: with whether there is one now. @type {import("@preact/signals").Signal<((isThere: boolean) => void) | null>} */
const asked = signal(null);

/** Make sure that there is a player, by asking for a name if there is none. @returns {Promise<boolean>} */
export function needPlayer() {
  if (session.value !== null) return Promise.resolve(true);
  return new Promise((resolve) => (asked.value = resolve));
}

/** The name of the player, or the way to get one. */
export function Account() {
  const player = session.value?.player;
  if (player === undefined) return html`<button type="button" class="plain" onClick=${needPlayer}>${t("sign_up")}</button>`;
  const why = session.value?.is_borrowed ? t("sign_out_borrowed") : t("sign_out_why");
  return html`<span class="account">
    <a class="name" href="#/account" title=${t("your_account")}>${player.name}</a>
    <button type="button" class="plain" onClick=${signOut} title=${why}>${t("sign_out")}</button>
  </span>`;
}

/** Says that the service refused the token of this browser. */
export const SessionEnded = () =>
  html`<div role="status">
    ${wasEnded.value &&
    html`<p class="notice">${t("session_ended")} <button type="button" class="plain" onClick=${acknowledgeEnd}>${t("close")}</button></p>`}
  </div>`;

/** The dialog: a name for a new player, or a recovery code or token of one; after a sign-up its recovery code. */
export function SignUp() {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const isReturning = useSignal(false);
  const code = useSignal("");
  const isAsked = asked.value !== null;
  useEffect(() => {
    if (isAsked) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isAsked]);
  const close = () => {
    asked.value?.(session.value !== null);
    asked.value = null;
    isReturning.value = false;
    code.value = "";
  };
  /** Whether this dialog is signing somebody in. */
  const isBusy = useRef(false);
  /** @param {(answer: string) => Promise<void>} work */
  const busy = (work) => async (/** @type {string} */ answer) => {
    isBusy.current = true;
    await work(answer).finally(() => (isBusy.current = false));
  };
  const signUpAs = busy(async (name) => {
    code.value = await signUp(name);
    asked.value ??= () => {}; // who closed the dialog meanwhile has an account nevertheless, and sees its code only now
  });
  const returnWith = busy(async (secret) => {
    await (TOKEN.test(secret) ? useToken(secret) : recover(secret));
    close();
  });
  const isThere = session.value !== null;
  useEffect(() => {
    if (isAsked && isThere && !isBusy.current && code.value === "") close(); // somebody signed in with another tab
  }, [isThere]);
  const step = code.value !== "" ? "code" : isReturning.value ? "return" : "name";
  return html`<dialog ref=${dialog} onClose=${close} aria-labelledby="sign-up">
    ${isAsked && step === "code" && html`<${NewCode} code=${code.value} done=${close} />`}
    ${isAsked && step === "return" && html`<${Return} back=${() => (isReturning.value = false)} ask=${returnWith} />`}
    ${isAsked && step === "name" && html`<${Name} toReturn=${() => (isReturning.value = true)} cancel=${close} ask=${signUpAs} />`}
  </dialog>`;
}

/** @param {{ toReturn: () => void, cancel: () => void, ask: (name: string) => Promise<void> }} props */
const Name = ({ toReturn, cancel, ask }) =>
  html`<${Question} title=${t("your_name")} cancel=${cancel} ask=${ask}>
    <p class="soft">${t("your_name_why")}</p>
    <label><span>${t("name")}</span><input name="answer" required maxlength=${LONGEST_NAME} autocomplete="nickname" /></label>
    <p><button type="button" class="link" onClick=${toReturn}>${t("have_account")}</button></p>
  <//>`;

/** @param {{ back: () => void, ask: (secret: string) => Promise<void> }} props */
const Return = ({ back, ask }) =>
  html`<${Question} title=${t("sign_in")} cancel=${back} ask=${ask}>
    <p class="soft">${t("sign_in_why")}</p>
    <label><span>${t("code_or_token")}</span><input name="answer" required autocomplete="off" autocapitalize="none" spellcheck=${false} /></label>
  <//>`;

/** A form with one field, `answer`. @param {{ title: string, children: unknown, cancel: () => void, ask: (answer: string) => Promise<void> }} props */
function Question({ title, children, cancel, ask }) {
  const task = useTask();
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  useEffect(() => form.current?.querySelector("input")?.focus(), []);
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    // Only once at a time: each sign-up would make another player.
    task.run(() => ask(String(new FormData(/** @type {HTMLFormElement} */ (form.current)).get("answer")).trim()));
  };
  return html`<form ref=${form} onSubmit=${submit}>
    <h2 id="sign-up">${title}</h2>
    ${children}
    <${Failure} task=${task} />
    <div class="row end">
      <button type="button" class="plain" onClick=${cancel}>${t("cancel")}</button>
      <button class="primary" aria-disabled=${task.isBusy.value}>${t("go_on")}</button>
    </div>
  </form>`;
}

/** @param {{ code: string, done: () => void }} props */
function NewCode({ code, done }) {
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => heading.current?.focus(), []);
  return html`<h2 id="sign-up" tabindex="-1" ref=${heading}>${t("recovery_code")}</h2>
    <${RecoveryCode} code=${code} />
    <div class="row end"><button type="button" class="primary" onClick=${done}>${t("kept_it")}</button></div>`;
}

/** A recovery code, which is shown only once. @param {{ code: string }} props */
export const RecoveryCode = ({ code }) => html`<p>${t("recovery_code_why")}</p><${CopyField} text=${code} label=${t("recovery_code")} />`;
