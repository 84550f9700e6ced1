import type { Owner } from "../domain/owner.js";
import type { RenewedSeal } from "../ports/key-vault.js";
import { sealedUnder } from "../state/encryption/data-key.js";
import { keysOf } from "../state/encryption/encrypted-engine.js";
import type { Keyring } from "../state/encryption/keyring.js";
import { sealedOwners } from "../state/encryption/sealed-journals.js";
import type { StateEngine } from "../state/engine.js";
import { ownerPartition } from "../state/partition.js";
import { resealPartition } from "./reseal.js";

/** What was written again. */
export interface Resealed {
  readonly values: number;
  readonly journals: number;
  readonly points: number;
}

export interface KeyRenewalParts {
  /** As it stores values, and the same in clear. */
  readonly stored: StateEngine;
  readonly engine: StateEngine;
  readonly keyring: Keyring;
  /** Publishes what the owner's outbox holds, as its rows are told in the order in which they were written. */
  readonly publish: () => Promise<void>;
  /** Journals that lie in files, whole; nobody else has them. How many. */
  readonly rewriteJournals: () => Promise<number>;
  /** Points that do not lie with the state. How many were sealed anew. */
  readonly renewPoints: (seal: RenewedSeal) => Promise<number>;
}

/**
 * Encrypts all of an owner's under a new data key, and destroys those before it once a look finds nothing that is sealed under them. Where
 * keys lie beside the values others may go on with the owner meanwhile: no commit under a key of before is taken once the new one is there,
 * and whoever writes elsewhere looks for it behind the write. Broken off, the same again goes on. @throws STORAGE_UNAVAILABLE, ABORTED
 */
export async function renewKey(parts: KeyRenewalParts, owner: Owner, signal: AbortSignal): Promise<Resealed> {
  const { stored, engine, keyring } = parts;
  const partition = ownerPartition(owner);
  const renewal = await keyring.renew(partition);
  if (renewal === null) return { values: 0, journals: 0, points: 0 };
  const seals = sealedOwners(keyring);
  const isBefore = (sealed: string) => renewal.before.includes(sealedUnder(sealed) ?? "");
  const seal: RenewedSeal = {
    isBefore,
    open: async (sealed, place) => (await seals.of(owner, sealed)).open(sealed, place),
    // Under this key even where the owner was erased meanwhile: then it opens nothing.
    seal: (text, place) => renewal.key.seal(text, place),
  };
  const isDone = async (where: string, key: string, value: string) => keysOf(where, key) !== where || !isBefore(value);
  const journals = await parts.rewriteJournals();
  let [values, points] = [0, 0];
  for (let found = true; found; ) {
    await parts.publish();
    const resealed = await resealPartition({ stored, engine, isDone }, partition, signal);
    const renewed = await parts.renewPoints(seal);
    [values, points] = [values + resealed, points + renewed];
    found = resealed + renewed > 0;
  }
  await keyring.retire(partition, renewal);
  return { values, journals, points };
}
