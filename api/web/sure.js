/** A button that asks once more before it does something that cannot be undone. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { html } from "./html.js";

/** @param {{ label: string, why: string, yes: string, no: string, isBusy: boolean, act: () => void }} props `isBusy`: it is being done */
export function Sure({ label, why, yes, no, isBusy, act }) {
  const isAsked = useSignal(false);
  /** Has the focus after a click, because the button that was clicked is gone. */
  const next = useRef(/** @type {HTMLElement | null} */ (null));
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) next.current?.focus();
    isFirst.current = false;
  }, [isAsked.value]);
  if (!isAsked.value) {
    return html`<button type="button" class="plain" ref=${next} aria-disabled=${isBusy} onClick=${() => (isAsked.value = !isBusy)}>${label}</button>`;
  }
  const answer = () => {
    isAsked.value = false;
    act();
  };
  return html`<div class="sure">
    <p role="status">${why}</p>
    <div class="row">
      <button type="button" class="danger" onClick=${answer}>${yes}</button>
      <button type="button" class="plain" ref=${next} onClick=${() => (isAsked.value = false)}>${no}</button>
    </div>
  </div>`;
}
