import { DEFAULT_CATEGORIES } from "../../src/domain/categories.js";
import { textHash } from "../../src/domain/folded-text.js";
import type { Owner } from "../../src/domain/owner.js";
import { Forgetting } from "../../src/memories/forgetting.js";
import { MemoryService, type MemoryServiceOptions, type MemoryServiceParts } from "../../src/memories/memories.js";
import type { OwnerLogs } from "../../src/memories/owner-logs.js";
import type { ProposedChange } from "../../src/memories/proposed-change.js";
import { type ReconcileRules, reconcile } from "../../src/memories/reconcile.js";
import { AppError } from "../../src/platform/errors.js";
import type { AppliedOperations, AppliesOperations, MemoryOperation } from "../contract/long-term.contract.js";

/** The use-case, and what a reader would have made of a message: operations go through the same rules, log and store. */
export class AppliedMemories extends MemoryService implements AppliesOperations {
  readonly #parts: MemoryServiceParts;
  readonly #options: MemoryServiceOptions;

  constructor(parts: MemoryServiceParts, options: MemoryServiceOptions = {}) {
    super(parts, options);
    this.#parts = parts;
    this.#options = options;
  }

  async apply(
    owner: Owner,
    operations: readonly MemoryOperation[],
    options: { readonly now: Date; readonly signal?: AbortSignal },
  ): Promise<AppliedOperations> {
    const { now, signal } = options;
    if (signal?.aborted) throw new AppError("ABORTED", { cause: signal.reason });
    const { ledger, onForgotten = () => {} } = this.#parts;
    const logs = this.changes as OwnerLogs;
    const forgetting = new Forgetting({ logs, ledger, onForgotten });
    const rules = await this.#rulesOf(owner, now);
    const [first] = operations;
    const asking = operations.flatMap((operation) => (operation.op === "forget" ? [operation.source.message_id] : []));
    const { result } = await logs.change(
      owner,
      async (memories) => {
        const { puts, ...reconciled } = reconcile(memories.records.values(), operations.map(changeOf), rules);
        const gone = await forgetting.tombstones(owner, memories, reconciled.forgotten, now, asking);
        const removed = gone.map(({ id }) => id);
        const left = puts.filter(({ id }) => !removed.includes(id));
        const { session_id = "", turn = 0, message_id = "" } = first?.source ?? {};
        const entry = { kind: "tool", turn: { session_id, turn, message_id, reader: "tool" }, puts: left, removed } as const;
        const stored = [...reconciled.resolved].filter(([change, memory]) => change === memory).map(([change]) => change);
        const { confirmed, superseded } = reconciled;
        const dropped = Object.values(reconciled.dropped).reduce((sum, count) => sum + count, 0);
        return {
          entry: left.length + removed.length === 0 ? null : entry,
          result: { stored, confirmed, superseded, forgotten: removed, dropped },
        };
      },
      options,
    );
    if (result.forgotten.length > 0) forgetting.tell(owner);
    return result;
  }

  async #rulesOf(owner: Owner, now: Date): Promise<ReconcileRules> {
    const { categoriesOf = () => DEFAULT_CATEGORIES, minConfidence = 0.6 } = this.#options;
    const tombstones = await this.#parts.ledger.tombstones(owner);
    return { categories: categoriesOf(owner), minConfidence, now, tombstones, hash: (text, of = owner) => textHash(of, text) };
  }
}

function changeOf(operation: MemoryOperation): ProposedChange {
  const { stated_at, source } = operation;
  const none = { id: "", target_id: null, statement: null, waits: null, stated_at: new Date(stated_at).toISOString(), source };
  if (operation.op === "add")
    return { ...none, op: "add", id: operation.memory_id, statement: operation.statement, waits: operation.review ? "unsure" : null };
  if (operation.op !== "supersede") return { ...none, op: operation.op, target_id: operation.target_id };
  const { memory_id: id, target_id, statement } = operation;
  return { ...none, op: statement === null ? "end" : "supersede", id, target_id, statement };
}
