/** A part of the page that can be made larger, and then scrolled. */
import { useState } from "preact/hooks";
import { html } from "./html.js";
import { t } from "./words.js";

const SCALES = [1, 1.5, 2, 3];
/** On a phone the whole picture is too small to be read: it begins larger there, by the index of its scale. */
const ON_A_PHONE = 2;

/** @param {{ label: string, isSimple?: boolean, children: any }} props `isSimple`: it can be read on a phone */
export function Zoomed({ label, isSimple = false, children }) {
  const [step, setStep] = useState(() => (!isSimple && matchMedia("(max-width: 30rem)").matches ? ON_A_PHONE : 0));
  const last = SCALES.length - 1;
  const scale = SCALES[step] ?? 1;
  return html`<section class="board" aria-label=${label}>
    <div class="scroll" tabindex=${step > 0 ? 0 : undefined}>
      <div class="sheet" style=${{ width: `${scale * 100}%` }}>${children}</div>
    </div>
    <div class="zoom">
      <button type="button" aria-label=${t("smaller")} aria-disabled=${step === 0} onClick=${() => setStep(Math.max(step - 1, 0))}>−</button>
      <button type="button" aria-label=${t("larger")} aria-disabled=${step === last} onClick=${() => setStep(Math.min(step + 1, last))}>+</button>
    </div>
  </section>`;
}
