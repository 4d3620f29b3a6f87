/** Parts of the page whose script is loaded when they are first shown. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { html } from "./html.js";
import { RETRY_MS } from "./loaded.js";
import { t } from "./words.js";

/**
 * A component that stands for another one, and has its properties.
 * @param {() => Promise<Function>} load if it fails, it is called again while the part is shown
 */
export function later(load) {
  const loaded = signal(/** @type {{ component: Function } | null} */ (null));
  const hasFailed = signal(false);
  /** @param {object} props */
  return function Later(props) {
    useEffect(() => {
      let isShown = loaded.value === null;
      hasFailed.value = false;
      const attempt = async (wait = RETRY_MS) => {
        try {
          loaded.value = { component: await load() };
        } catch {
          hasFailed.value = true;
          setTimeout(() => isShown && attempt(2 * wait), wait);
        }
      };
      if (isShown) attempt();
      return () => void (isShown = false);
    }, []);
    if (loaded.value !== null) return html`<${loaded.value.component} ...${props} />`;
    return html`<p role="status">${hasFailed.value ? t("load_failed") : t("loading")}</p>`;
  };
}
