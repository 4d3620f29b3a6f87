/** A button that asks once more before it does something that cannot be undone. */
import { useSignal } from "@preact/signals";
import { html } from "./html.js";

/** @param {{ label: string, why: string, yes: string, no: string, act: () => void }} props */
export function Sure({ label, why, yes, no, act }) {
  const isAsked = useSignal(false);
  if (!isAsked.value) return html`<button type="button" class="plain" onClick=${() => (isAsked.value = true)}>${label}</button>`;
  const answer = () => {
    isAsked.value = false;
    act();
  };
  return html`<div class="sure">
    <p role="status">${why}</p>
    <div class="row">
      <button type="button" class="danger" onClick=${answer}>${yes}</button>
      <button type="button" class="plain" onClick=${() => (isAsked.value = false)}>${no}</button>
    </div>
  </div>`;
}
