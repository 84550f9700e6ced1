import { LRUCache } from "lru-cache";
import type { Owner } from "../domain/owner.js";
import type { AlsoAsked, AlsoDue } from "../ports/extraction.js";

/** Answers that nobody came for: what they were made of has changed meanwhile. */
const MOST_ANSWERS = 1_000;
const KEPT_MS = 10 * 60_000;

/** What a session's upkeep would ask a model for. */
interface UpkeepDue {
  readonly title: AlsoAsked | null;
  /** `overdue`: it waits for no more messages. */
  readonly summary: (AlsoAsked & { readonly overdue: boolean }) | null;
}

/** What a reading is asked beside its message. `overdue`: one that could wait is not to. */
export type AlongDue = AlsoDue & { readonly overdue: boolean };

/**
 * Titles and summaries that are made by the call which reads a message, where they are due: one call, not three. What it gave is kept until
 * the upkeep behind the reading asks for the very same.
 */
export class AlongWithReading {
  readonly #answers = new LRUCache<string, { readonly of: string; readonly text: string }>({ max: MOST_ANSWERS, ttl: KEPT_MS });

  /** What a reading is to be asked; null where nothing is due. */
  ask(owner: Owner, sessionId: string, { title, summary }: UpkeepDue): AlongDue | null {
    const asked = [title, summary].flatMap((each) => (each === null ? [] : [each]));
    if (asked.length === 0) return null;
    return {
      asked,
      answered: ({ task, of }, text) => this.#answers.set(keyOf(owner, sessionId, task), { of, text }),
      overdue: summary?.overdue === true,
    };
  }

  /** Whether a reading gave one; of what it was made stays to be seen. */
  has(owner: Owner, sessionId: string, task: AlsoAsked["task"]): boolean {
    return this.#answers.has(keyOf(owner, sessionId, task));
  }

  /** What a reading gave, made of the very same; null where none did. It is given once. */
  take(owner: Owner, sessionId: string, { task, of }: Pick<AlsoAsked, "task" | "of">): string | null {
    const key = keyOf(owner, sessionId, task);
    const answer = this.#answers.get(key);
    this.#answers.delete(key);
    return answer?.of === of ? answer.text : null;
  }
}

function keyOf(owner: Owner, sessionId: string, task: AlsoAsked["task"]): string {
  return JSON.stringify([owner, sessionId, task]);
}
