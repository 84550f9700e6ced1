/** What this browser keeps of the page, for good or for this tab. Where it may keep nothing, the page goes on without it. */

function over(storageOf) {
  const tried = (work) => {
    try {
      return work(storageOf());
    } catch {
      // Forbidden by the guest, or full.
      return null;
    }
  };
  return {
    get: (name) => tried((storage) => storage.getItem(name)),
    set: (name, text) => void tried((storage) => storage.setItem(name, text)),
    remove: (name) => void tried((storage) => storage.removeItem(name)),
  };
}

export const forGood = over(() => localStorage);
export const forThisTab = over(() => sessionStorage);
