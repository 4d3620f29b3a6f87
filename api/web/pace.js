/** How long this machine takes to show a new picture. On a slow or busy one there are fewer pictures, and nothing moves in them. */

/** Times the time for a picture until there is another one: its page leaves time for other work. */
const REST = 9;
/** A machine that takes longer would not move things smoothly. */
const SMOOTH_MS = 60;
/** What took longer was interrupted, for example because the page was hidden. */
const LONGEST_MS = 500;

/** Milliseconds from the text of a picture to its pixels, of late. */
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
