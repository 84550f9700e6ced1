import type { Owner } from "../../domain/owner.js";
import type { LineOpener } from "../../platform/jsonl-log.js";
import type { OwnerSeal, OwnerSeals } from "../../ports/key-vault.js";
import { type JournalSeals, KEYS_END } from "../journal/journal-codec.js";
import { ownerPartition } from "../partition.js";
import { sealedUnder } from "./data-key.js";
import { type Changing, knows, openedBy } from "./encrypted-engine.js";
import type { Keyring } from "./keyring.js";
import type { PartitionKeys } from "./partition-keys.js";

/**
 * Bodies of journals' lines, each under its owner's key: behind the partition whose key it is. A line in clear is damaged, but while all is
 * being sealed or unsealed.
 */
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
      const keys = partition === "" ? undefined : await keyring.of(partition);
      const open: LineOpener = (sealed, place) => {
        const value = sealed.slice(sealed.indexOf(KEYS_END));
        const id = sealedUnder(value);
        if (id === null || !sealed.startsWith(`${partition}${KEYS_END}`)) return undefined;
        // What was renewed or destroyed meanwhile.
        const now = keyring.held(partition);
        return openedBy(now !== null && knows(now, id) ? now : keys, id, value, {
          place: placeIn(sessionId, place),
          what: `A line of session ${sessionId}`,
        });
      };
      return changing === null ? open : Object.assign(open, { takesClear: true as const });
    },
  };
  return seals;
}

function placeIn(sessionId: string, place: string): string {
  return `${sessionId}\n${place}`;
}

/** What is kept of owners in other stores than the engine, under the same keys. */
export function sealedOwners(keyring: Keyring): OwnerSeals {
  const sealOf = (held: PartitionKeys): OwnerSeal => ({
    knows: (sealed) => knows(held, sealedUnder(sealed) ?? ""),
    open: (sealed, place) => openedBy(held, sealedUnder(sealed) ?? "", sealed, { place, what: "A payload of the vector store" }) ?? null,
    hashedWords: (words) => held.words?.hashedWords(words) ?? [],
    hashed: (text) => held.words?.hashed(text) ?? 0,
  });
  return {
    async of(owner, wanted) {
      const partition = ownerPartition(owner as Owner);
      const id = sealedUnder(wanted ?? "");
      const known = await keyring.of(partition);
      return sealOf(id === null || knows(known, id) ? known : await keyring.again(partition));
    },
    async toWrite(owner) {
      const partition = ownerPartition(owner as Owner);
      const sealing = await keyring.keptAmong(partition);
      return {
        ...sealOf(sealing.held),
        seal: (text, place) => sealing.key.seal(text, place),
        isRenewed: () => keyring.isRenewed(partition, sealing),
      };
    },
  };
}
