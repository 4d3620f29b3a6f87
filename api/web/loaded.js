/** What a page reads once. */
import { useEffect, useState } from "preact/hooks";

const RETRY_MS = 1_000;

/**
 * What a request gives. The value before stays until the next one is there. If it fails for a reason that passes (then the error
 * says so by `isTransient`), the fault is shown, and the request repeated until it succeeds.
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
    const read = () =>
      load().then(
        (value) => isCurrent && setLoaded({ value, fault: null }),
        (fault) => {
          if (!isCurrent) return;
          setLoaded(({ value }) => ({ value, fault }));
          if (fault.isTransient) timer = setTimeout(read, fault.retryMs ?? RETRY_MS);
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
