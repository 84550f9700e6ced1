import type { MemoryRecord } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import { derivedId, newId } from "../platform/ids.js";
import type { MemoryRequest } from "../ports/memory-log.js";
import type { RequestKey } from "../ports/request-key.js";
import type { OwnerMemories } from "./owner-memories.js";

/** A statement's request, where it has a key. */
export interface StatementKey extends RequestKey {
  /** Which of the request's statements, from 0. Default 0. */
  readonly place?: number;
}

/** Under which id a request with a key is logged: the key itself is not. */
function requestIdOf(owner: Owner, { key }: RequestKey): string {
  return derivedId("memory", owner, "by request", key);
}

/**
 * The memory that this request stated before; null where it did not, or not within a day.
 * @throws IDEMPOTENCY_KEY_REUSED for a key of another request, INVALID_REQUEST where the memory is forgotten since
 */
export function statedBefore(owner: Owner, memories: OwnerMemories, request: StatementKey, now: Date): MemoryRecord | null {
  const before = memories.request(requestIdOf(owner, request), now);
  if (before === undefined) return null;
  if (before.hash !== request.requestHash) throw new AppError("IDEMPOTENCY_KEY_REUSED");
  const id = before.memories.get(request.place ?? 0);
  if (id === undefined) return null;
  const record = memories.records.get(id);
  if (record === undefined) throw new AppError("INVALID_REQUEST", { detail: "It was forgotten since." });
  request.onReplay?.();
  return record;
}

/** Whether the request has stated this one already: nobody needs to be asked what it is. */
export function isStated(owner: Owner, memories: OwnerMemories, request: StatementKey, now: Date): boolean {
  return memories.request(requestIdOf(owner, request), now)?.memories.has(request.place ?? 0) === true;
}

/** For a memory that is stated: the same for the same request, so that a repetition on another machine can't double it. */
export function statedId(owner: Owner, memories: OwnerMemories, { key, place = 0 }: StatementKey): string {
  const id = derivedId("memory", owner, "by hand", key, place);
  // The key's day is over, and its memory still there.
  return memories.records.has(id) || memories.isRemoved(id) ? newId() : id;
}

/** What the log keeps of a request: `memoryId` is what it is answered with. */
export function loggedRequest(owner: Owner, request: StatementKey, memoryId: string): MemoryRequest {
  return { id: requestIdOf(owner, request), hash: request.requestHash, place: request.place ?? 0, memory_id: memoryId };
}
