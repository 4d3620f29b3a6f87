/** A text to take away: with a button that copies it. */
import { useSignal } from "@preact/signals";
import { html } from "./html.js";
import { t } from "./words.js";

const SHOWN_MS = 2_000;

/** @param {{ text: string, label: string }} props */
export function Copy({ text, label }) {
  const isCopied = useSignal(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      return; // the browser forbids it: the person can select the text
    }
    isCopied.value = true;
    setTimeout(() => (isCopied.value = false), SHOWN_MS);
  };
  // Browsers offer the clipboard only on pages with TLS, and on this machine.
  if (!navigator.clipboard) return null;
  return html`<button type="button" class="plain" onClick=${copy}>${isCopied.value ? t("copied") : label}</button>`;
}

/** A text that is only shown, and can be copied. @param {{ text: string, label: string }} props `label`: what the text is */
export const CopyField = ({ text, label }) =>
  html`<p class="row copy-field">
    <input readonly aria-label=${label} value=${text} onFocus=${(/** @type {any} */ event) => event.target.select()} />
    <${Copy} text=${text} label=${t("copy")} />
  </p>`;
