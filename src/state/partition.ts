import { type Owner, ownerHash } from "../domain/owner.js";

/** Names of partitions and of the keys in them: the one place that makes them. Made of ids, hashes and times alone. */

/** Digits of a number in a key, so that keys are in the order of their numbers. */
const DIGITS = 12;

const OWNERS = "o:";

/** All that is one owner's. Their name is no part of it: what stays after an erasure does not tell it. */
export function ownerPartition(owner: Owner): string {
  return `${OWNERS}${ownerHash(owner)}`;
}

export function isOwnersPartition(partition: string): boolean {
  return partition.startsWith(OWNERS);
}

/** One of the installation's own: `systemPartition("locks")`, `systemPartition("seats", eventId)`. */
export function systemPartition(kind: string, id?: string): string {
  return id === undefined ? `s:${kind}` : `s:${kind}:${id}`;
}

/** Holds the owner's name as JSON, as long as there is anything of theirs but what an erasure leaves. */
export const OWNER_KEY = "owner";

/** The put that says whose partition it is. Part of every commit that may be the owner's first. */
export function named(owner: Owner): { readonly key: string; readonly value: string } {
  return { key: OWNER_KEY, value: JSON.stringify(owner) };
}

export function ownerOfValue(value: string): Owner {
  return JSON.parse(value) as Owner;
}

/** A number as a part of a key: 0 to 999,999,999,999. */
export function numberKey(number: number): string {
  return String(Math.max(0, Math.trunc(number))).padStart(DIGITS, "0");
}
