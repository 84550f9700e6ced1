import { derivedId } from "../platform/ids.js";
import type { Owner } from "./owner.js";

/** Ids that follow from what they stand for, and are another owner's for the same content. */

export function memoryIdOf(owner: Owner, sessionId: string, messageId: string, index: number): string {
  return derivedId("memory", owner, sessionId, messageId, index);
}

export function importedSessionId(owner: Owner, externalId: string): string {
  return derivedId("session", owner, externalId);
}

export function importedMemoryId(owner: Owner, externalId: string): string {
  return derivedId("memory", owner, "imported", externalId);
}

/** Of what a merge gave an owner: the same for every try. */
export function mergedId(kind: "memory" | "receipt" | "session", to: Owner, mergeId: string, id: string): string {
  return derivedId(kind, to, "merge", mergeId, id);
}

/** Of what the domain's records say that an owner did. */
export function happenedId(owner: Owner, eventId: string): string {
  return derivedId("memory", owner, "happened", eventId);
}
