/** How long this machine takes to show a new picture. On a slow or busy one there are fewer pictures, and nothing moves in them. */

/** The pause after a picture, as a multiple of what it took: pictures take at most a tenth of the time of a page. */
const REST = 9;
/** If a picture takes longer, movements would be jerky. */
const SMOOTH_MS = 60;
/** What took longer was interrupted, for example because the page was hidden. */
const LONGEST_MS = 500;

/** Milliseconds from the text of a picture to its pixels; newer pictures count more. */
let usual = 0;

/** Measure how long a picture takes that is shown by `show`. @param {() => void} show */
export function measured(show) {
  const began = performance.now();
  show();
  requestAnimationFrame(() =>
    setTimeout(() => (usual = (usual + Math.min(performance.now() - began, LONGEST_MS)) / 2)),
  );
}

/** The least time until the next picture, in milliseconds. */
export const rest = () => REST * usual;

export const isSmooth = () => usual < SMOOTH_MS;
