/** The number of a seat in its colour and shape, as pictures show it. */
import { html } from "./html.js";

/** @param {{ seat: number }} props */
export const SeatMark = ({ seat }) => html`<span class=${`seat-mark seat-${seat}`} aria-hidden="true">${seat}</span>`;
