import { KEYS_END } from "../journal/journal-codec.js";
import type { JournalSeals } from "../journal/journal-seals.js";
import { ownerPartition } from "../partition.js";
import { sealedUnder } from "./data-key.js";
import { type Changing, openedBy } from "./encrypted-engine.js";
import type { Keyring } from "./keyring.js";

/** Bodies of journals' lines, each under its owner's key: behind the partition whose key it is. */
export function sealedJournals(keyring: Keyring, changing: Changing | null = null): JournalSeals {
  const seals: JournalSeals = {
    async sealer(owner, sessionId) {
      const partition = ownerPartition(owner);
      if (changing === "decrypt") return { opens: await seals.opener(partition, sessionId), seal: null };
      const key = await keyring.kept(partition);
      const opens = await seals.opener(partition, sessionId);
      return { opens, seal: (text, place) => `${partition}${key.seal(text, placeIn(sessionId, place))}` };
    },
    async opener(partition, sessionId) {
      const keys = await keyring.of(partition);
      return (sealed, place) => {
        const value = sealed.slice(sealed.indexOf(KEYS_END));
        const id = sealedUnder(value);
        if (id === null || !sealed.startsWith(`${partition}${KEYS_END}`)) return undefined;
        // What was renewed meanwhile.
        const held = keys.keys.has(id) ? keys : (keyring.held(partition) ?? keys);
        return openedBy(held, id, value, { place: placeIn(sessionId, place), what: `A line of session ${sessionId}` });
      };
    },
  };
  return seals;
}

function placeIn(sessionId: string, place: string): string {
  return `${sessionId}\n${place}`;
}
