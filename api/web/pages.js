/** Lists of the API, which are read page by page. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { get, isTransient, Problem } from "./api.js";
import { html } from "./html.js";
import { Failure } from "./task.js";
import { t } from "./words.js";

/** How often a list that may change is read, and one that could not be read. */
export const REFRESH_MS = 5_000;

/**
 * A list of the API. `items` is null until the first page is there. What was asked for before the newest `restart` is not shown.
 * @template T
 * @param {() => string} address of the first page, with a query
 * @param {(page: any) => readonly T[]} itemsOf
 */
export function usePages(address, itemsOf) {
  const items = useSignal(/** @type {readonly T[] | null} */ (null));
  const next = useSignal(/** @type {string | null} */ (null));
  const count = useSignal(0);
  const isBusy = useSignal(false);
  const problem = useSignal(/** @type {Error | null} */ (null));
  const latest = useRef({});
  useEffect(() => () => void (latest.current = {}), []);
  /** @param {string | null} cursor */
  const read = async (cursor) => {
    const mine = (latest.current = {});
    const isLatest = () => latest.current === mine;
    isBusy.value = true;
    try {
      const page = await get(address() + (cursor === null ? "" : `&${new URLSearchParams({ cursor })}`));
      if (!isLatest()) return;
      items.value = [...((cursor !== null && items.value) || []), ...itemsOf(page)];
      next.value = page.next;
      count.value = cursor === null ? 1 : count.value + 1;
      problem.value = null;
    } catch (error) {
      if (!isLatest()) return;
      problem.value = /** @type {Error} */ (error);
      // The first page comes by itself, the others when the person asks again.
      if (cursor === null && isTransient(error)) setTimeout(() => isLatest() && read(null), (error instanceof Problem && error.retryMs) || REFRESH_MS);
    } finally {
      if (isLatest()) isBusy.value = false;
    }
  };
  return {
    items, next, count, isBusy, problem,
    restart: () => read(null),
    more: () => void (isBusy.value || read(next.value)),
  };
}

/**
 * What is below a list: why it could not be read, and the way to its next page. After the last page the button is gone: then
 * the focus goes to the place where it was.
 * @param {{ pages: Omit<ReturnType<typeof usePages>, "items">, label?: string }} props
 */
export function More({ pages, label = t("more") }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const hadFocus = useRef(false);
  const isThere = pages.next.value !== null;
  useEffect(() => {
    if (!isThere && hadFocus.current && document.activeElement === document.body) place.current?.focus({ preventScroll: true });
    hadFocus.current = false;
  }, [isThere]);
  const press = () => {
    hadFocus.current = true;
    pages.more();
  };
  return html`<div ref=${place} tabindex="-1" class="more">
    <${Failure} task=${pages} />
    ${isThere && html`<button type="button" class="plain" aria-disabled=${pages.isBusy.value} onClick=${press}>${label}</button>`}
  </div>`;
}
