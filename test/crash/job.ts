import type { Memory, MemoryState } from "../../src/domain/memory.js";
import type { ChatAnswer } from "../../src/ports/resources.js";
import type { Armed } from "./fault-points.js";

/** What the test asks of a child process, and what the child says. JSON on both ways. */

/** `forgetting`: what was not synced is gone at the kill. `plain`: the operating system keeps it, as after a real SIGKILL. */
export type Disk = "forgetting" | "plain";

/** A defect that the checks must find. */
export type PlantedBug = "no-sync" | "done-before-read-back" | "log-after-store";

/** How far one user's script has come. */
export interface TrackState {
  readonly user: string;
  /** The first step that nobody was told the end of. */
  readonly position: number;
  /** Of the blocks that have one: what the script refers back to. */
  readonly sessions: Readonly<Record<number, string>>;
  /** The user message that an edit replaces, by block. */
  readonly editable: Readonly<Record<number, string>>;
}

export interface Job {
  readonly dir: string;
  readonly disk: Disk;
  readonly armed: Armed | null;
  readonly bug: PlantedBug | null;
  /** Turns the reader's order round: another seed, another order. */
  readonly seed: number;
  readonly tracks: readonly TrackState[];
  /** Steps that each track goes at most. */
  readonly steps: number;
  /** Waits for the write-back after each step, so that the worker's points are met one turn at a time. */
  readonly paced: boolean;
  /** Before the script: the index is emptied and made anew of the journals. */
  readonly rebuild: boolean;
  /** Last of all: waits until nothing is pending, asks again for what was answered before, and looks at everything. */
  readonly finish: {
    readonly replay: readonly { readonly user: string; readonly position: number }[];
    /** Users whose receipts are to be shown. */
    readonly erased: readonly string[];
  } | null;
  /** Instead of the script: erases this user. */
  readonly erase: string | null;
}

export interface SeenMemory {
  readonly user: string;
  readonly id: string;
  readonly text: string;
  readonly status: MemoryState;
  readonly type: Memory["type"];
  readonly aspect: string;
  readonly seenCount: number;
}

export interface SeenAtStart {
  /** Each journal that the store opened, and the lines of it that can't be read. */
  readonly journals: readonly { readonly sessionId: string; readonly damagedLines: number; readonly tornBytes: number }[];
  readonly memories: readonly SeenMemory[];
}

export interface SeenAtEnd extends SeenAtStart {
  /** All that history holds, by the ids that the messages and summaries have in the journals. */
  readonly history: readonly { readonly sessionId: string; readonly messageId: string }[];
  readonly pending: { readonly pending: number; readonly failed: number };
  /** The session list, without what changes by being looked at. */
  readonly sessions: readonly { readonly user: string; readonly id: string; readonly title: string | null; readonly messages: number }[];
  readonly receipts: readonly { readonly user: string; readonly verified: boolean }[];
  readonly openErasures: number;
  readonly replays: readonly { readonly user: string; readonly position: number; readonly answer: ChatAnswer }[];
}

export type ChildEvent =
  | { readonly event: "opening" }
  | { readonly event: "open"; readonly ms: number; readonly seen: SeenAtStart }
  | {
      readonly event: "answered";
      readonly user: string;
      readonly position: number;
      readonly answer: ChatAnswer;
      readonly messageId: string;
    }
  /** Said before it is asked for: from here on a memory or a session may be gone. */
  | { readonly event: "taking"; readonly memoryId?: string; readonly sessionId?: string }
  | { readonly event: "taken"; readonly user: string; readonly position: number }
  | { readonly event: "erased"; readonly verified: boolean }
  | { readonly event: "finished"; readonly seen: SeenAtEnd }
  | { readonly event: "survived" };
