/** Parts of the page whose script is loaded when they are first shown. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { html } from "./html.js";
import { t } from "./words.js";

/**
 * A component that stands for another one, and has its properties.
 * @param {() => Promise<Function>} load if it fails, it is called again when the part is shown the next time
 */
export function later(load) {
  const loaded = signal(/** @type {{ component: Function } | null} */ (null));
  const hasFailed = signal(false);
  /** @param {object} props */
  return function Later(props) {
    useEffect(() => {
      if (loaded.value !== null) return;
      hasFailed.value = false;
      load().then(
        (component) => (loaded.value = { component }),
        () => (hasFailed.value = true),
      );
    }, []);
    if (loaded.value !== null) return html`<${loaded.value.component} ...${props} />`;
    return html`<p role="status">${hasFailed.value ? t("load_failed") : t("loading")}</p>`;
  };
}
