import { type RecordedTurn, recordedTurn } from "../../domain/recorded-turn.js";
import type { JournalRecord, MessageRecord, RecordOf } from "../../domain/session.js";
import { sumOf, totalCost } from "../../domain/tokens.js";
import type { Tombstone } from "../../ports/owner-ledger.js";
import type { TurnRow } from "../../ports/studio-views.js";
import type { ShowText } from "./looks.js";

export interface JournalledTurn {
  readonly turn: number;
  readonly recorded: RecordedTurn | null;
  /** The last one that was said in it: where another agent leads the conversation there may be several. */
  readonly answer: MessageRecord | null;
  readonly writeBack: RecordOf<"write_back_done">["body"] | null;
  readonly offRecord: boolean;
}

/** More records of one turn are not looked at. */
const MOST_RECORDS = 5_000;

/** Turns from the end of a journal, newest first, at most so many, behind `before`. Costs what they hold. */
export async function turnsOf(
  newestFirst: AsyncIterable<JournalRecord>,
  { limit, before = Number.POSITIVE_INFINITY }: { readonly limit: number; readonly before?: number },
): Promise<{ readonly turns: readonly JournalledTurn[]; readonly more: boolean }> {
  const byTurn = new Map<number, JournalRecord[]>();
  // What is written behind a turn's answer, as its write-back is, may stand behind the next turn's messages.
  const begun = new Set<number>();
  const offRecord = new Set<number>();
  let looked = 0;
  let more = false;
  for await (const record of newestFirst) {
    if (record.type === "off_record") offRecord.add(record.body.of_turn);
    if (record.turn === 0 || record.turn >= before) continue;
    if (record.type === "message" || record.type === "step") {
      if (!begun.has(record.turn) && begun.size === limit) {
        more = true;
        break;
      }
      begun.add(record.turn);
    }
    byTurn.set(record.turn, [record, ...(byTurn.get(record.turn) ?? [])]);
    looked += 1;
    if (looked > MOST_RECORDS * limit) break;
  }
  const turns = [...begun].map((turn): JournalledTurn => {
    const records = byTurn.get(turn) ?? [];
    const answers = records.filter((record) => record.type === "message" && record.body.role === "assistant") as MessageRecord[];
    const done = records.findLast((record) => record.type === "write_back_done");
    const recorded = recordedTurn(records, turn);
    return {
      turn,
      recorded,
      answer: recorded?.assistant ?? answers.at(-1) ?? null,
      writeBack: done?.type === "write_back_done" ? done.body : null,
      offRecord: offRecord.has(turn),
    };
  });
  return { turns: turns.toSorted((a, b) => b.turn - a.turn), more };
}

/** Whether the words of a turn are for nobody else: said in private, taken off the record, or forgotten. */
export function isHidden({ recorded, answer, offRecord }: JournalledTurn, tombstones: readonly Tombstone[]): boolean {
  if (offRecord || recorded?.user.body.incognito === true) return true;
  const ids = [recorded?.user.id, answer?.id];
  return tombstones.some(({ messageIds }) => messageIds.some((id) => ids.includes(id)));
}

export function turnRow(turn: JournalledTurn, hidden: boolean, show: ShowText): TurnRow {
  const { recorded, answer } = turn;
  const shown = { ...show("message", recorded?.user.body.content), ...show("answer", answer?.body.content) };
  const { outcome, suspended, error_code, timing, memory } = answer?.body ?? {};
  return {
    turn: turn.turn,
    at: recorded?.user.at ?? answer?.at ?? new Date(0).toISOString(),
    ...shown,
    ...(hidden && { message: null, answer: null }),
    memory_status: memory?.status ?? null,
    outcome: suspended !== undefined ? "suspended" : (outcome ?? null),
    error_code: error_code ?? null,
    cost: costOf(turn),
    duration_ms: timing?.total_ms ?? null,
  };
}

/** Of the answer and of what followed it, so far; null where the price of any call is unknown. */
function costOf({ answer, writeBack }: JournalledTurn): number | null {
  const { tokens } = answer?.body.metadata ?? {};
  if (answer === null) return null;
  // One that was led by another agent was paid for there.
  if (tokens === undefined && answer.body.outcome === undefined) return null;
  const own = tokens === undefined ? null : (tokens.cost ?? null);
  return sumOf([own, totalCost(writeBack?.tokens ?? {})]);
}
