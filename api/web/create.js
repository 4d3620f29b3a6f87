/** A new match: seats, bots, the game's own options by its schema, the clock, and whether it is private. */
import { useSignal } from "@preact/signals";
import { needPlayer } from "./account.js";
import { games, readGame, readGames, textOf } from "./games.js";
import { titleOfBot, useHosted } from "./hosted.js";
import { html } from "./html.js";
import { createAndJoin } from "./joining.js";
import { useLoaded } from "./loaded.js";
import { More } from "./pages.js";
import { Fault } from "./task.js";
import { t } from "./words.js";

/** @import { Game, Schema } from "./types.d.ts" */
/** @typedef {{ seats: number, bots: readonly string[], options: Record<string, unknown>, clock: object | null | undefined, private: boolean, rated: boolean }} Draft */

const CLOCKS = [
  { name: "relaxed", clock: undefined },
  { name: "turn_minute", clock: { turn_seconds: 60 } },
  { name: "turn_five", clock: { turn_seconds: 300 } },
  { name: "turn_day", clock: { turn_seconds: 86_400 } },
  { name: "bank_ten", clock: { bank_seconds: 600, increment_seconds: 10 } },
  { name: "none", clock: null },
];

/** @param {{ query: URLSearchParams }} props */
export function Create({ query }) {
  const chosen = useSignal(query.get("game"));
  const problem = useSignal(/** @type {Error | null} */ (null));
  const list = useLoaded(readGames, []);
  const id = (games.value.find((one) => one.id === chosen.value) ?? games.value[0])?.id;
  const read = useLoaded(async () => (id === undefined ? null : readGame(id)), [id]);
  // The form of another game would lose what a person chooses in it.
  const game = read.value?.id === id ? read.value : null;
  /** @param {any} event */
  const choose = (event) => {
    chosen.value = event.target.value;
    problem.value = null;
  };
  return html`
    <h1 tabindex="-1">${t("new_match")}</h1>
    <${Fault} fault=${problem.value ?? list.fault ?? read.fault} />
    <div class="card form">
      <label><span>${t("filter_game")}</span>
        <select value=${id} onChange=${choose}>
          ${games.value.map((one) => html`<option key=${one.id} value=${one.id}>${one.title}</option>`)}
        </select>
      </label>
      ${game && html`<p><a href=${`#/rules/${game.id}`} target="_blank">${t("rules_of", { game: game.title })}</a></p>`}
      ${game && html`<${Details} key=${game.id} game=${game} problem=${problem} />`}
    </div>
  `;
}

/** @param {{ game: Game, problem: import("@preact/signals").Signal<Error | null> }} props */
function Details({ game, problem }) {
  const usual = game.seats.find((count) => count > 1) ?? game.seats[0] ?? 1;
  const draft = useSignal(/** @type {Draft} */ ({ seats: usual, bots: [], options: {}, clock: undefined, private: false, rated: false }));
  const isSent = useSignal(false);
  const { hosted, pages } = useHosted(game.id);
  /** @param {Partial<Draft>} part */
  const set = (part) => (draft.value = { ...draft.value, ...part });
  const { seats, bots, options } = draft.value;
  const filled = bots.slice(0, seats - 1).filter(Boolean);
  const mayBeRated = seats > 1 && filled.length === 0 && !draft.value.private && draft.value.clock !== null && isUsual(game, options);
  /** @param {SubmitEvent} event */
  const submit = async (event) => {
    event.preventDefault();
    if (isSent.value || !(await needPlayer())) return;
    isSent.value = true;
    problem.value = null;
    try {
      const { clock, ...rest } = draft.value;
      const rated = rest.rated && mayBeRated;
      await createAndJoin({ game: game.id, ...rest, rated, bots: filled, ...(clock !== undefined && { clock }) });
    } catch (error) {
      problem.value = /** @type {Error} */ (error);
      scrollTo(0, 0);
    } finally {
      isSent.value = false;
    }
  };
  return html`<form onSubmit=${submit}>
    <label><span>${t("filter_seats")}</span>
      <select value=${seats} onChange=${(/** @type {any} */ event) => set({ seats: Number(event.target.value) })}>
        ${game.seats.map((count) => html`<option key=${count} value=${count}>${count}</option>`)}
      </select>
    </label>
    ${Array.from({ length: seats - 1 }, (_, index) => {
      /** @param {any} event */
      const change = (event) => set({ bots: Object.assign(Array(seats - 1).fill(""), bots, { [index]: event.target.value }) });
      return html`<label key=${index}><span>${t("other_seat", { number: index + 1 })}</span>
        <select value=${bots[index] ?? ""} onChange=${change}>
          <option value="">${t("for_person")}</option>
          ${game.bots.map((bot) => html`<option key=${bot} value=${bot}>${t("the_bot", { name: bot })}</option>`)}
          ${hosted.map((bot) => html`<option key=${bot.id} value=${bot.id}>${titleOfBot(bot)}</option>`)}
        </select>
      </label>`;
    })}
    ${seats > 1 && html`<${More} pages=${pages} label=${t("more_bots")} />`}
    <${Options} game=${game} values=${options} onChange=${(/** @type {Record<string, unknown>} */ changed) => set({ options: changed })} />
    <label><span>${t("clock")}</span>
      <select onChange=${(/** @type {any} */ event) => set({ clock: CLOCKS[event.target.selectedIndex]?.clock })}>
        ${CLOCKS.map(({ name }) => html`<option key=${name}>${t(/** @type {any} */ (`clock_${name}`))}</option>`)}
      </select>
    </label>
    <label class="check">
      <input type="checkbox" checked=${draft.value.private} onChange=${(/** @type {any} */ event) => set({ private: event.target.checked })} />
      <span>${t("private_match")}</span>
    </label>
    <label class="check">
      <input
        type="checkbox"
        checked=${draft.value.rated && mayBeRated}
        disabled=${!mayBeRated}
        aria-describedby="rated-why"
        onChange=${(/** @type {any} */ event) => set({ rated: event.target.checked })}
      />
      <span>${t("rated_match")}</span>
    </label>
    <p id="rated-why" class="soft">${t("rated_why")}</p>
    <button class="primary" aria-disabled=${isSent.value}>${t("create_and_join")}</button>
  </form>`;
}

/** Whether a rated match may have these options: the game's defaults, or those of a variant. @param {Game} game @param {Record<string, unknown>} options */
function isUsual(game, options) {
  const { properties = {} } = resolved(game.options, game.options);
  /** @param {Record<string, unknown>} some */
  const full = (some) => JSON.stringify(Object.entries(properties).map(([name, schema]) => some[name] ?? resolved(schema, game.options).default));
  return [{}, ...Object.values(game.variants)].some((usual) => full(usual) === full(options));
}

/**
 * A field for each option of the game's schema.
 * @param {{ game: Game, values: Record<string, unknown>, onChange: (values: Record<string, unknown>) => void }} props
 */
function Options({ game, values, onChange }) {
  const root = resolved(game.options, game.options);
  return Object.entries(root.properties ?? {}).map(([name, schema]) => {
    /** @param {unknown} value undefined for the game's default */
    const set = (value) => {
      const { [name]: _, ...others } = values;
      onChange(value === undefined ? others : { ...others, [name]: value });
    };
    const label = textOf(game, `option.${name}`) ?? name.replaceAll("_", " ");
    return html`<${Option} key=${name} name=${name} label=${label} game=${game} schema=${resolved(schema, game.options)} value=${values[name]} set=${set} />`;
  });
}

/** @param {{ name: string, label: string, game: Game, schema: Schema, value: unknown, set: (value: unknown) => void }} props */
function Option({ name, label, game, schema, value, set }) {
  const shown = value === undefined ? schema.default : value;
  if (schema.type === "boolean") {
    return html`<label class="check">
      <input type="checkbox" checked=${shown === true} onChange=${(/** @type {any} */ event) => set(event.target.checked)} />
      <span>${label}</span>
    </label>`;
  }
  /** @param {unknown} choice */
  const nameOf = (choice) => textOf(game, `${name}.${choice}`) ?? String(choice).replaceAll("_", " ");
  const choices = choicesOf(schema, game.options);
  if (choices.length > 0) {
    return html`<label><span>${label}</span>
      <select value=${JSON.stringify(shown)} onChange=${(/** @type {any} */ event) => set(JSON.parse(event.target.value))}>
        ${choices.map((choice) => html`<option key=${choice} value=${JSON.stringify(choice)}>${choice === null ? t("nothing") : nameOf(choice)}</option>`)}
      </select>
    </label>`;
  }
  if (schema.type === "integer") {
    const read = (/** @type {any} */ event) => set(event.target.value === "" ? undefined : Number(event.target.value));
    return html`<label><span>${label}</span>
      <input type="number" step="1" min=${schema.minimum} max=${schema.maximum} value=${shown} onChange=${read} />
    </label>`;
  }
  return null; // the game's default holds
}

/** The schema that a reference stands for. @param {Schema} schema @param {Schema} root @returns {Schema} */
function resolved(schema, root) {
  const name = schema.$ref?.split("/").at(-1);
  return name === undefined ? schema : { ...root.$defs?.[name], ...schema };
}

/** The values of an option that has a few. @param {Schema} schema @param {Schema} root @returns {readonly unknown[]} */
function choicesOf(schema, root) {
  if (schema.enum !== undefined) return schema.enum;
  if (schema.const !== undefined) return [schema.const];
  if (schema.type === "null") return [null];
  return (schema.anyOf ?? []).flatMap((part) => choicesOf(resolved(part, root), root));
}
