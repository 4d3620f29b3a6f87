/** What the person may do: sentences that a click on the board narrows, and the last one to confirm. */
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { complete, fits, patternOf, pick, picksOf, stillPossible } from "./choices.js";
import { isOpen, SeatClock } from "./clocks.js";
import { html } from "./html.js";
import { titleOf } from "./titles.js";
import { t } from "./words.js";

/** @import { Action } from "./types.d.ts" */
/** @import { Live } from "./live.js" */
/** @import { Data, Pick } from "./choices.js" */
/** @typedef {ReturnType<typeof useChoice>} Choice */

const FIRST_SHOWN = 40;
const FILTER_FROM = 12;

/** The state of choosing, shared by the board and the list. @param {Live} live */
export function useChoice(live) {
  const picks = useSignal(/** @type {readonly Pick[]} */ ([]));
  const lit = useSignal(/** @type {Action | null} */ (null));
  const sending = useSignal(/** @type {Action | null} */ (null));
  const problem = useSignal(/** @type {Error | null} */ (null));

  /** The seat's own decision, if one is open. */
  const decision = useComputed(() => live.decisions.value.find((one) => one.seat === live.match.value?.viewer));
  /** The entries of the legal list that fit, by their index in it. */
  const fitting = useComputed(() => {
    const texts = live.texts.value;
    return live.actions.value.flatMap((action, index) => (fits(action, picks.value) ? [{ action, text: texts[index] ?? action.type }] : []));
  });
  /** The only entry that fits, once the person has picked something. */
  const last = useComputed(() => {
    const [only, other] = fitting.value;
    return only !== undefined && other === undefined && picks.value.length > 0 ? only : null;
  });
  const ready = useComputed(() => (last.value === null ? null : complete(last.value.action, picks.value)));

  useSignalEffect(() => {
    picks.value = stillPossible(live.actions.value, picks.peek());
    lit.value = null;
  });

  /** @param {Action} action */
  async function act(action) {
    if (sending.peek() !== null) return;
    sending.value = action;
    problem.value = null;
    try {
      await live.act(action, decision.peek());
      picks.value = [];
    } catch (error) {
      problem.value = /** @type {Error} */ (error);
    } finally {
      sending.value = null;
    }
  }

  return {
    picks, lit, sending, problem, decision, fitting, last, ready, act,
    /** Pick an element of the board. Picking the last fitting one again confirms it. @param {Data} data */
    choose(data) {
      const actions = live.actions.peek();
      const before = picks.peek();
      const chosen = ready.peek();
      const next = pick(actions, before, data);
      // Not where things are counted or collected: one click too many must not send them.
      const isConfirmed = chosen !== null && Object.keys(data).every((field) => typeof chosen[field] !== "object");
      if (isConfirmed && next.length < before.length) act(chosen);
      else picks.value = next;
    },
    /** Choose a sentence. One with a pattern asks for its items first. @param {Action} action */
    say(action) {
      if (patternOf(action) === null) act(action);
      else picks.value = picksOf(action);
    },
  };
}

/** @param {{ choice: Choice }} props */
export function Actions({ choice }) {
  const decision = choice.decision.value;
  const open = useComputed(() => choice.decision.value !== undefined && isOpen(choice.decision.value));
  const heading = useKeptFocus();
  if (decision === undefined) return null;
  return html`<section class="card actions" aria-labelledby="your-move">
    <div class="spread">
      <h2 id="your-move" tabindex="-1" ref=${heading}>${t("your_move")}</h2>
      <${SeatClock} decision=${decision} bank=${undefined} />
    </div>
    <p class="asked">${decision.text}</p>
    <${Problem} choice=${choice} />
    ${choice.last.value === null
      ? html`<${Picked} choice=${choice} /><${Sentences} choice=${choice} isOpen=${open.value} key=${decision.id} />`
      : html`<${Confirm} choice=${choice} isOpen=${open.value} />`}
  </section>`;
}

/** A heading that gets the focus if the element of its section that had it is gone, so that the keyboard stays where it was. */
function useKeptFocus() {
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  const wasInside = useRef(false);
  useEffect(() => {
    /** @param {FocusEvent} event */
    const note = ({ target }) => {
      const section = heading.current?.closest("section");
      wasInside.current = section?.contains(/** @type {Node} */ (target)) ?? false;
    };
    addEventListener("focusin", note);
    return () => removeEventListener("focusin", note);
  }, []);
  useEffect(() => {
    if (wasInside.current && document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  });
  return heading;
}

/** @param {{ choice: Choice }} props */
const Problem = ({ choice }) =>
  html`<div role="alert">${choice.problem.value && html`<p class="problem">${choice.problem.value.message}</p>`}</div>`;

/** What was picked so far; a click takes it back. @param {{ choice: Choice }} props */
function Picked({ choice }) {
  const picks = choice.picks.value.filter((one) => one.field !== "type");
  if (picks.length === 0) return null;
  /** @param {Pick} one */
  const drop = (one) => {
    const index = choice.picks.value.indexOf(one);
    choice.picks.value = choice.picks.value.filter((_, other) => other !== index);
  };
  return html`<ul class="chips" aria-label=${t("picked")}>
    ${picks.map(
      (one, index) =>
        html`<li key=${index}>
          <button type="button" class="chip" onClick=${() => drop(one)} aria-label=${t("take_back", { what: titleOf(one) })}>
            ${titleOf(one)}<span aria-hidden="true">×</span>
          </button>
        </li>`,
    )}
    <li><button type="button" class="plain" onClick=${() => (choice.picks.value = [])}>${t("clear")}</button></li>
  </ul>`;
}

/** @param {{ choice: Choice, isOpen: boolean }} props */
function Sentences({ choice, isOpen }) {
  const wanted = useSignal("");
  const shown = useSignal(FIRST_SHOWN);
  const fitting = choice.fitting.value;
  const words = wanted.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = fitting.filter(({ text }) => words.every((word) => text.toLowerCase().includes(word)));
  const rest = found.length - shown.value;
  return html`
    <p class="soft">${t("choose_where")}</p>
    ${fitting.length >= FILTER_FROM &&
    html`<label class="filter">
      <span>${t("filter_actions", { count: fitting.length })}</span>
      <input type="search" value=${wanted.value} onInput=${(/** @type {any} */ event) => (wanted.value = event.target.value)} />
    </label>`}
    <ul class="sentences">
      ${found.slice(0, shown.value).map(
        ({ action, text }) => html`<li key=${JSON.stringify(action)}><${Sentence} choice=${choice} action=${action} text=${text} isOpen=${isOpen} /></li>`,
      )}
    </ul>
    ${rest > 0 &&
    html`<button type="button" class="plain" onClick=${() => (shown.value += FIRST_SHOWN)}>${t("more_actions", { count: rest })}</button>`}
  `;
}

/** @param {{ choice: Choice, action: Action, text: string, isOpen: boolean }} props */
function Sentence({ choice, action, text, isOpen }) {
  const light = () => (choice.lit.value = action);
  const dim = () => (choice.lit.value = null);
  const isSent = choice.sending.value === action;
  return html`<button
    type="button"
    class=${isSent ? "sentence sent" : "sentence"}
    aria-disabled=${!isOpen || choice.sending.value !== null}
    onClick=${() => isOpen && choice.say(action)}
    onMouseEnter=${light}
    onMouseLeave=${dim}
    onFocus=${light}
    onBlur=${dim}
  >
    ${patternOf(action) === null ? text : `${text.replace(/\.$/, "")} …`}
  </button>`;
}

/** The last sentence that fits, with the items of its pattern. @param {{ choice: Choice, isOpen: boolean }} props */
function Confirm({ choice, isOpen }) {
  const last = choice.last.value;
  if (last === null) return null;
  const ready = choice.ready.value;
  const found = patternOf(last.action);
  return html`<div class="confirm">
    <p><strong>${last.text}</strong></p>
    ${found !== null && html`<${Items} choice=${choice} field=${found.field} pattern=${found.pattern} />`}
    <button
      type="button"
      class="primary"
      aria-disabled=${ready === null || !isOpen || choice.sending.value !== null}
      onClick=${() => ready !== null && isOpen && choice.act(ready)}
    >
      ${choice.sending.value === null ? t("do_it") : t("sent")}
    </button>
    <button type="button" class="plain" onClick=${() => (choice.picks.value = [])}>${t("choose_another")}</button>
  </div>`;
}

/** @param {{ choice: Choice, field: string, pattern: import("./types.d.ts").Pattern }} props */
function Items({ choice, field, pattern }) {
  const chosen = new Set(choice.picks.value.filter((one) => one.field === field).map((one) => one.value));
  /** @param {string} item */
  const mayToggle = (item) => chosen.has(item) || chosen.size < pattern.max;
  /** @param {string} item */
  const toggle = (item) => {
    const picks = choice.picks.value;
    choice.picks.value = chosen.has(item)
      ? picks.filter((one) => one.field !== field || one.value !== item)
      : [...picks, { field, value: item }];
  };
  return html`<fieldset>
    <legend>${t("choose_items", { min: pattern.min, max: pattern.max, count: chosen.size })}</legend>
    ${pattern.any_of.map(
      (item) =>
        html`<button
          type="button"
          class="chip"
          key=${item}
          aria-pressed=${chosen.has(item)}
          aria-disabled=${!mayToggle(item)}
          onClick=${() => mayToggle(item) && toggle(item)}
        >
          ${titleOf({ field, value: item })}
        </button>`,
    )}
  </fieldset>`;
}
