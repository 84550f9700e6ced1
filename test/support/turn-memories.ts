import type { Memory } from "../../src/domain/memory.js";
import type { ProposedOperation } from "../../src/ports/extraction.js";
import type { RememberedTurn, Settlement, TurnMemories, TurnToRemember } from "../../src/ports/memories.js";
import { sampleMemory } from "./samples.js";

export const NOTHING_REMEMBERED: RememberedTurn = { memories: [], to_confirm: [], forgotten: [], off_record: null, dropped: {} };

/** Scripted: what a test gives is answered, in order; a call that it didn't expect is an error of the test. */
export class ScriptedTurnMemories implements TurnMemories {
  readonly proposed: { readonly turn: TurnToRemember; readonly operations: readonly ProposedOperation[] }[] = [];
  readonly settled: { readonly settlements: readonly Settlement[]; readonly options: Parameters<TurnMemories["settle"]>[2] }[] = [];
  readonly takenOffRecord: (readonly string[])[] = [];
  readonly outcomes: RememberedTurn[] = [];
  readonly settlements: (Memory | Error)[] = [];
  waiting: Memory[] = [];

  async propose(...[, turn, operations]: Parameters<TurnMemories["propose"]>): Promise<RememberedTurn> {
    this.proposed.push({ turn, operations });
    return taken(this.outcomes, "propose");
  }

  async readLeft(): Promise<void> {}

  async settle(...[, settlements, options]: Parameters<TurnMemories["settle"]>): Promise<readonly Memory[]> {
    this.settled.push({ settlements, options });
    const next = taken(this.settlements, "settle");
    if (next instanceof Error) throw next;
    return [next];
  }

  async takeOffRecord(...[, messageIds]: Parameters<TurnMemories["takeOffRecord"]>): Promise<readonly Memory[]> {
    this.takenOffRecord.push(messageIds);
    return [];
  }

  async toConfirm(): Promise<readonly Memory[]> {
    return this.waiting;
  }

  /** What reading the message gives. Default: nothing. */
  read: RememberedTurn = NOTHING_REMEMBERED;

  async remember(): Promise<RememberedTurn> {
    return this.read;
  }

  async remembered(): Promise<RememberedTurn | null> {
    throw new Error("no turn's account was to be asked for in this test");
  }

  async asked(): Promise<void> {
    throw new Error("nothing was to be counted in this test");
  }
}

function taken<T>(left: T[], what: string): T {
  const next = left.shift();
  if (next === undefined) throw new Error(`${what} was called more often than the test expects`);
  return next;
}

/** A memory that waits for the guest's word. */
export function waitingMemory(more: Partial<Memory> = {}): Memory {
  return sampleMemory({ status: "review", reason: "unsure", text: "Is allergic to nuts", category: "dietary", strength: "hard", ...more });
}

/** A memory that holds, and whose end waits. */
export function endingMemory(more: Partial<Memory> = {}): Memory {
  const pending_change = {
    op: "end",
    statement: null,
    reason: "unclear_change",
    source: null,
    stated_at: "2026-03-01T10:00:00.000Z",
    asked: 0,
  } as const;
  return sampleMemory({ text: "Is allergic to nuts", category: "dietary", strength: "hard", pending_change, ...more });
}
