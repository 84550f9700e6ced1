import { createHash } from "node:crypto";
import { memoryOf } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import type { MessageToRead, ProposedOperation } from "../ports/extraction.js";
import type { RememberedTurn, TurnToRemember } from "../ports/memories.js";
import type { CheckedReading } from "./checked-operation.js";
import type { Forgetting } from "./forgetting.js";
import type { OwnerLogs } from "./owner-logs.js";
import { changesOf } from "./proposed-change.js";
import { type ReconcileRules, reconcile } from "./reconcile.js";
import { between, summed } from "./reconciled.js";
import { knownFor } from "./turn-reading.js";
import { waits } from "./waiting.js";

/** Checks what was proposed for a message as what its reader proposes is checked. */
export type CheckProposed = (message: MessageToRead, operations: readonly ProposedOperation[]) => Promise<CheckedReading>;

export interface ToolProposalsParts {
  readonly logs: OwnerLogs;
  readonly forgetting: Forgetting;
  readonly checkProposed: CheckProposed;
  readonly rules: (owner: Owner, now: Date) => Promise<ReconcileRules>;
}

/** Ids of what tools propose are counted from here, so that they don't meet those of the reading of the same message. */
const FIRST_INDEX = 1_000;
const READER = "tool";

/** What the answering model proposes by a tool: checked, reconciled, logged and projected, as what reading gives. */
export async function propose(
  { logs, forgetting, checkProposed, rules }: ToolProposalsParts,
  owner: Owner,
  turn: TurnToRemember,
  operations: readonly ProposedOperation[],
  { now, signal }: { readonly now: Date; readonly signal: AbortSignal },
): Promise<RememberedTurn> {
  const rulesNow = await rules(owner, now);
  const { memories, result } = await logs.change(
    owner,
    async (current) => {
      const targets = operations.flatMap(({ target_id }) => current.records.get(target_id ?? "") ?? []);
      const near = knownFor(turn.text, current.records.values(), targets, now);
      const known = [...targets.map(memoryOf), ...near.filter(({ id }) => targets.every((target) => target.id !== id))];
      const { channel: _channel, replaces: _replaces, ...said } = turn;
      const checked = await checkProposed({ owner, ...said, known }, operations);
      const own = checked.operations.map((operation) => ({
        ...operation,
        // By what is said, so that a turn that runs again writes the same memory.
        index: indexOf(operation.statement?.text ?? `${operation.op} ${operation.target_id ?? operation.all_about?.subject}`),
      }));
      const reconciled = reconcile(current.records.values(), changesOf(owner, turn, own, current.records), rulesNow);
      const gone = await forgetting.tombstones(owner, current, reconciled.forgotten, now, [turn.message_id]);
      const forgotten = gone.map(({ id }) => id);
      const { puts, removed } = between(current.records, current.records, reconciled, new Set(forgotten));
      const { session_id, message_id } = turn;
      const entry = { kind: "tool", turn: { session_id, turn: turn.turn, message_id, reader: READER }, puts, removed } as const;
      return {
        entry: puts.length + removed.length === 0 ? null : entry,
        result: {
          touched: new Set([...puts.map(({ id }) => id), ...reconciled.resolved.values()]),
          forgotten,
          dropped: summed(checked.dropped, reconciled.dropped),
        },
      };
    },
    { now, signal },
  );
  if (result.forgotten.length > 0) forgetting.tell(owner);
  const touched = [...result.touched].flatMap((id) => memories.records.get(id) ?? []);
  return {
    memories: touched.map(memoryOf),
    to_confirm: touched.filter(waits).map(memoryOf),
    forgotten: result.forgotten,
    off_record: null,
    dropped: result.dropped,
  };
}

function indexOf(said: string): number {
  return FIRST_INDEX + createHash("sha256").update(said.normalize("NFC").toLowerCase()).digest().readUIntBE(0, 4);
}
