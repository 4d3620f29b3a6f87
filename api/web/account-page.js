/** The page of the account: its name, its tokens, its recovery code, everything that is stored of it, and its end. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { LONGEST_NAME, needPlayer, RecoveryCode } from "./account.js";
import { OtherPlayer, patch, post, Problem, remove, send, Unreachable } from "./api.js";
import { html } from "./html.js";
import { catchUp, forgetPlayer, keep, me, session } from "./session.js";
import { Failure, useTask } from "./task.js";
import { Tokens } from "./token-list.js";
import { t } from "./words.js";

const LONGEST_EXPORT_MS = 300_000;

export function AccountPage() {
  const isErased = useSignal(false);
  const player = session.value?.player;
  useEffect(() => {
    if (player !== undefined) isErased.value = false; // that was another one
  }, [player?.id]);
  if (player === undefined) {
    return html`<h1 tabindex="-1">${t("your_account")}</h1>
      <p role="status">${isErased.value ? t("erased") : t("no_account")}</p>
      ${isErased.value
        ? html`<p><a href="#/">${t("to_lobby")}</a></p>`
        : html`<button type="button" class="primary" onClick=${needPlayer}>${t("sign_up")}</button>`}`;
  }
  return html`<h1 tabindex="-1">${t("your_account")}</h1>
    <p><a href=${`#/player/${player.id}`}>${t("your_page")}</a></p>
    <div class="account-page" key=${player.id}>
      <${Name} name=${player.name} />
      <${Tokens} />
      <${Recovery} />
      <${Export} />
      <${Erase} name=${player.name} onErased=${() => (isErased.value = true)} />
    </div>`;
}

/** @param {{ name: string }} props */
function Name({ name }) {
  const task = useTask();
  const isChanged = useSignal(false);
  /** @param {any} event */
  const submit = (event) => {
    event.preventDefault();
    const wanted = String(new FormData(event.currentTarget).get("name")).trim();
    isChanged.value = false;
    task.run(async () => {
      const player = await patch("/v1/me", { name: wanted });
      catchUp();
      const now = session.value;
      if (now !== null && now.player.id === player.id) keep({ ...now, player });
      isChanged.value = true;
    });
  };
  return html`<section class="card" aria-labelledby="change-name">
    <h2 id="change-name">${t("name")}</h2>
    <p class="soft">${t("change_name_why")}</p>
    <form onSubmit=${submit}>
      <label><span>${t("name")}</span><input name="name" required maxlength=${LONGEST_NAME} autocomplete="nickname" value=${name} /></label>
      <${Failure} task=${task} />
      <div class="row">
        <button class="primary" aria-disabled=${task.isBusy.value}>${t("change_name")}</button>
        <span role="status">${isChanged.value ? t("changed") : ""}</span>
      </div>
    </form>
  </section>`;
}

function Recovery() {
  const task = useTask();
  const code = useSignal("");
  const renew = () => task.run(async () => (code.value = (await post("/v1/me/recovery-code")).recovery_code));
  return html`<section class="card" aria-labelledby="renew-code">
    <h2 id="renew-code">${t("recovery_code")}</h2>
    <div role="status">
      ${code.value === "" ? html`<p class="soft">${t("renew_code_why")}</p>` : html`<${RecoveryCode} key=${code.value} code=${code.value} />`}
    </div>
    <${Failure} task=${task} />
    <button type="button" onClick=${renew} aria-disabled=${task.isBusy.value}>${t("renew_code")}</button>
  </section>`;
}

/** The file of the account. It is not kept for the panel of client authors. */
async function download() {
  try {
    const answer = await send("GET", "/v1/me/export", { accept: "application/x-ndjson", signal: AbortSignal.timeout(LONGEST_EXPORT_MS) });
    return await answer.blob();
  } catch (error) {
    throw error instanceof Problem || error instanceof OtherPlayer ? error : new Unreachable(); // cut off, or too slow
  }
}

function Export() {
  const task = useTask();
  const save = () =>
    task.run(async () => {
      const address = URL.createObjectURL(await download());
      const link = Object.assign(document.createElement("a"), { href: address, download: "moonstone-account.ndjson" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000); // by then the browser has saved it
    });
  return html`<section class="card" aria-labelledby="export">
    <h2 id="export">${t("export")}</h2>
    <p class="soft">${t("export_why")}</p>
    <${Failure} task=${task} />
    <button type="button" onClick=${save} aria-disabled=${task.isBusy.value}>${task.isBusy.value ? t("loading") : t("download")}</button>
  </section>`;
}

/** @param {{ name: string, onErased: () => void }} props */
function Erase({ name, onErased }) {
  const task = useTask();
  const typed = useSignal("");
  const isSame = typed.value.normalize().replace(/[\u2066-\u2069]/g, "").trim() === name;
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    if (!isSame) return;
    task.run(async () => {
      const player = me.value ?? "";
      await remove("/v1/me");
      onErased();
      forgetPlayer(player);
    });
  };
  return html`<section class="card" aria-labelledby="erase">
    <h2 id="erase">${t("erase")}</h2>
    <p>${t("erase_why")}</p>
    <form onSubmit=${submit}>
      <label>
        <span>${t("erase_confirm", { name })}</span>
        <input value=${typed.value} onInput=${(/** @type {any} */ event) => (typed.value = event.target.value)} autocomplete="off" />
      </label>
      <${Failure} task=${task} />
      <button class="danger" aria-disabled=${!isSame || task.isBusy.value}>${t("erase_now")}</button>
    </form>
  </section>`;
}
