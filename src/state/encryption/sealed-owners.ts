import type { Owner } from "../../domain/owner.js";
import type { OwnerSeal, OwnerSeals } from "../../ports/owner-seals.js";
import { ownerPartition } from "../partition.js";
import { sealedUnder } from "./data-key.js";
import { openedBy } from "./encrypted-engine.js";
import type { Keyring } from "./keyring.js";

/** What is kept of owners in other stores than the engine, under the same keys. */
export function sealedOwners(keyring: Keyring): OwnerSeals {
  const of = async (owner: string): Promise<OwnerSeal> => {
    const held = await keyring.of(ownerPartition(owner as Owner));
    return {
      open: (sealed, place) => openedBy(held, sealedUnder(sealed) ?? "", sealed, { place, what: "A payload of the vector store" }) ?? null,
      hashedWords: (words) => held.words?.hashedWords(words) ?? [],
      hashed: (text) => held.words?.hashed(text) ?? 0,
    };
  };
  return {
    of,
    async toWrite(owner) {
      const key = await keyring.kept(ownerPartition(owner as Owner));
      return { ...(await of(owner)), seal: (text, place) => key.seal(text, place) };
    },
  };
}
