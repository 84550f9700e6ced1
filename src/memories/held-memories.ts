import type { Owner } from "../domain/owner.js";
import type { Memories } from "../ports/memories.js";
import { type FormerSessionIds, withIdOfToday } from "../ports/session-names.js";

/** Lets an erasure refuse new work of an owner, and wait for what runs. @throws OWNER_ERASED while one runs */
export interface OwnerGate {
  begin(owner: Owner): { end(): void };
}

/**
 * Memories as doors have them: no change begins while the owner is being erased, and an erasure waits for those that have begun; a session
 * is also named by an id that it had before. `former`: default, no session had one.
 */
export function heldMemories(memories: Memories, gate: OwnerGate, former: FormerSessionIds = async () => null): Memories {
  const held = async <T>(owner: Owner, work: () => Promise<T>): Promise<T> => {
    const running = gate.begin(owner);
    try {
      return await work();
    } finally {
      running.end();
    }
  };
  return {
    get: (owner, ...rest) => memories.get(owner, ...rest),
    list: async (owner, query) => memories.list(owner, await withIdOfToday(former, owner, query, "sessionId")),
    search: async (owner, query) => memories.search(owner, await withIdOfToday(former, owner, query, "sessionId")),
    history: (owner, ...rest) => memories.history(owner, ...rest),
    add: (owner, ...rest) => held(owner, () => memories.add(owner, ...rest)),
    addAll: (owner, ...rest) => held(owner, () => memories.addAll(owner, ...rest)),
    patch: (owner, ...rest) => held(owner, () => memories.patch(owner, ...rest)),
    approve: (owner, ...rest) => held(owner, () => memories.approve(owner, ...rest)),
    reject: (owner, ...rest) => held(owner, () => memories.reject(owner, ...rest)),
    forget: (owner, ...rest) => held(owner, () => memories.forget(owner, ...rest)),
    forgetAll: (owner, ...rest) => held(owner, () => memories.forgetAll(owner, ...rest)),
  };
}
