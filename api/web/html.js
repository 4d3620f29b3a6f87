/** Preact elements from tagged templates: html`<p class="x">${text}</p>`. Text is never parsed as markup. */
import htm from "htm";
import { h } from "preact";

/** @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = htm.bind(h);
