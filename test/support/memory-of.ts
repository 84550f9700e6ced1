import type { Memory } from "../../src/domain/memory.js";
import type { ProposedOperation } from "../../src/ports/extraction.js";

/** A memory as it would be stored of a proposal. */
export function memoryOf(operation: ProposedOperation, id: string, said: Date): Memory {
  const at = said.toISOString();
  return {
    ...operation,
    id,
    type: operation.type ?? "preference",
    status: "active",
    stated_at: at,
    valid_from: at,
    superseded_by: null,
    seen_count: 1,
    last_confirmed_at: at,
    channel: "",
    reason: null,
    pending_change: null,
    source: null,
    created_at: at,
    updated_at: at,
  };
}
