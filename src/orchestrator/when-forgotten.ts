import type { LongTermMemory } from "../long-term.js";
import type { Owner } from "../owner.js";

/**
 * A long-term memory that tells when something of an owner was forgotten, whoever asked for it, so that what was made from it can be made
 * anew (summaries). `told` is called after the forgetting is durable, off the caller's path; what it throws is its own affair.
 */
export function whenForgotten(longTerm: LongTermMemory, told: (owner: Owner) => void): LongTermMemory {
  const after = async <T>(owner: Owner, work: Promise<T>, forgot: (result: T) => boolean): Promise<T> => {
    const result = await work;
    if (forgot(result)) queueMicrotask(() => told(owner));
    return result;
  };
  return {
    recall: (owner, request) => longTerm.recall(owner, request),
    constraints: (owner, options) => longTerm.constraints(owner, options),
    related: (owner, text, options) => longTerm.related(owner, text, options),
    apply: (owner, operations, options) =>
      after(owner, longTerm.apply(owner, operations, options), ({ forgotten }) => forgotten.length > 0),
    add: (owner, statement, options) => longTerm.add(owner, statement, options),
    get: (owner, id, options) => longTerm.get(owner, id, options),
    list: (owner, query) => longTerm.list(owner, query),
    search: (owner, query) => longTerm.search(owner, query),
    patch: (owner, id, patch, options) => longTerm.patch(owner, id, patch, options),
    approve: (owner, id, options) => longTerm.approve(owner, id, options),
    history: (owner, id) => longTerm.history(owner, id),
    forget: (owner, id, options) => after(owner, longTerm.forget(owner, id, options), (memories) => memories.length > 0),
    forgetAll: (owner, options) => after(owner, longTerm.forgetAll(owner, options), (count) => count > 0),
    detachSession: (owner, sessionId, how) => longTerm.detachSession(owner, sessionId, how),
    all: (owner) => longTerm.all(owner),
    restore: (owner, memories) => longTerm.restore(owner, memories),
    erase: (owner) => longTerm.erase(owner),
    residue: (owner) => longTerm.residue(owner),
    health: () => longTerm.health(),
    close: () => longTerm.close(),
  };
}
