import { derivedId } from "../platform/ids.js";
import type { Owner } from "./owner.js";

/** Ids that follow from what they stand for, and are another owner's for the same content. */

export function memoryIdOf(owner: Owner, sessionId: string, messageId: string, index: number): string {
  return derivedId("memory", owner, sessionId, messageId, index);
}

export function importedSessionId(owner: Owner, externalId: string): string {
  return derivedId("session", owner, externalId);
}
