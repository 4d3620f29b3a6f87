/** What a page reads once. */
import { useEffect, useState } from "preact/hooks";

/** The pause before a read that failed is repeated, unless the service says how long; each next one is twice as long. */
export const RETRY_MS = 1_000;
export const LONGEST_RETRY_MS = 30_000;

/**
 * What a request gives. The value before stays until the next one is there. If it fails for a reason that may pass (then the error
 * says so by `isTransient`), the request is repeated until it succeeds.
 * @template T
 * @param {() => Promise<T>} load
 * @param {readonly unknown[]} inputs
 * @returns {{ value: T | null, fault: Error | null }}
 */
export function useLoaded(load, inputs) {
  const [loaded, setLoaded] = useState(/** @type {{ value: T | null, fault: Error | null }} */ ({ value: null, fault: null }));
  useEffect(() => {
    let isCurrent = true;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const read = (wait = RETRY_MS) =>
      load().then(
        (value) => isCurrent && setLoaded({ value, fault: null }),
        (fault) => {
          if (!isCurrent) return;
          setLoaded(({ value }) => ({ value, fault }));
          if (fault.isTransient) timer = setTimeout(() => read(Math.min(2 * wait, LONGEST_RETRY_MS)), fault.retryMs ?? wait);
        },
      );
    read();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [...inputs]);
  return loaded;
}
