/** Something that a person asks for: it runs once at a time, and says why it failed. */
import { useSignal } from "@preact/signals";
import { html } from "./html.js";

/** @typedef {ReturnType<typeof useTask>} Task */

export function useTask() {
  const problem = useSignal(/** @type {Error | null} */ (null));
  const isBusy = useSignal(false);
  /** @param {() => Promise<void>} work */
  const run = async (work) => {
    if (isBusy.value) return;
    isBusy.value = true;
    problem.value = null;
    try {
      await work();
    } catch (error) {
      problem.value = /** @type {Error} */ (error);
    } finally {
      isBusy.value = false;
    }
  };
  return { problem, isBusy, run };
}

/** @param {{ task: Pick<Task, "problem"> }} props */
export const Failure = ({ task }) => html`<${Fault} fault=${task.problem.value} />`;

/** Why something failed. @param {{ fault: Error | null }} props */
export const Fault = ({ fault }) => html`<div role="alert">${fault && html`<p class="problem">${fault.message}</p>`}</div>`;
