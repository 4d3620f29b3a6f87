/**
 * Work that is asked for often and done one at a time: asked for while it runs, it runs once more afterwards, also if it failed.
 * @param {() => Promise<void>} work
 * @returns {() => Promise<void>} asks for it; resolves when it is done
 */
export function coalesced(work) {
  /** @type {Promise<void> | null} */
  let running = null;
  let again = false;
  const run = async () => {
    do {
      again = false;
      try {
        await work();
      } catch (error) {
        if (!again) throw error;
      }
    } while (again);
  };
  return () => {
    if (running !== null) again = true;
    else running = run().finally(() => (running = null));
    return running;
  };
}
