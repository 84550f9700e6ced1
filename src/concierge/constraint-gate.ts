import type { ToolContext } from "../agent.js";
import { isAppError } from "../errors.js";
import type { LongTermMemory, Memory, MemorySource } from "../long-term.js";
import type { Owner } from "../owner.js";
import type { Logger } from "../platform/logger.js";
import type { CatalogueEvent, Section } from "./catalogue.js";
import { comesAlong } from "./companions.js";
import { type Judgement, judgeAccess, judgeDiet } from "./needs.js";

/** How long the gate's own read may take. */
const GATE_READ_MS = 2_000;
/** How long a booking waits for what the guest has said to be written to memory. A quote doesn't wait. */
const WRITE_BACK_WAIT_MS = 5_000;

/** A table of what each category of constraint is held against. A category that is not in it touches no booking. */
export const TOUCHES: ReadonlyMap<
  string,
  {
    /** What of the catalogue it is held against. */
    readonly fact: string;
    readonly tools: readonly string[];
    readonly judge: (words: string, event: CatalogueEvent, section: Section) => Judgement;
  }
> = new Map([
  ["accessibility", { fact: "the section's and the house's access", tools: ["book_tickets"], judge: judgeAccess }],
  ["dietary", { fact: "the menu, where something is served", tools: ["book_tickets"], judge: judgeDiet }],
  ["allergy", { fact: "the menu, where something is served", tools: ["book_tickets"], judge: judgeDiet }],
]);

/** Stands among a booking's waived memories where the guest said that there is nothing to mind. */
export const WAIVED_UNCHECKED = "unchecked";

export interface Conflict {
  readonly memoryId: string;
  readonly memory: string;
  /** `self`, or the companion's name. */
  readonly who: string;
  readonly because: string;
  /** True where the catalogue doesn't say; false where it says no. */
  readonly unknown: boolean;
  /** Where the guest said it; null for a memory that was added by hand. */
  readonly source: MemorySource | null;
}

/** `along`: companions of memories who are in the party, by the names of the memories. */
export type Verdict =
  | {
      readonly state: "pass";
      readonly along: readonly string[];
      readonly checked: readonly string[];
      readonly reminders: readonly string[];
    }
  | { readonly state: "stop"; readonly along: readonly string[]; readonly conflicts: readonly Conflict[] }
  /** The constraints could not be read, or not all of them: the guest has to be asked. */
  | { readonly state: "unchecked"; readonly along: readonly string[] };

export interface Party {
  /** As the booking names them. */
  readonly companions: readonly string[];
  /** The guest's own words. */
  readonly words: string;
}

export type Judge = (event: CatalogueEvent, section: Section, party: Party, waived: readonly string[]) => Verdict;
/** `complete`: false where there may be more than could be read. `disabled`: long-term memory is switched off by configuration. */
type Constraints = { readonly known: readonly Memory[]; readonly complete: boolean } | "disabled";

/**
 * Resolves when nothing that the owner has said, in any session, can still be written to memory, or when the signal aborts; true
 * when all of it is. Called within a turn: it must not wait for the session's lock.
 */
export type WrittenBack = (owner: Owner, signal: AbortSignal) => Promise<boolean>;

export interface GateParts {
  readonly longTerm: Pick<LongTermMemory, "constraints">;
  readonly writtenBack: WrittenBack;
  readonly logger: Logger;
  /** Default 2,000. */
  readonly readMs?: number;
  /** Default 5,000. */
  readonly writeBackWaitMs?: number;
}

/**
 * Stands in front of the booking tools. Reads the hard constraints itself, whatever the turn recalled, within its own bound,
 * and holds them against the catalogue for everyone in the party. It never reads "out of reach", "not written yet" or "not looked
 * at" (incognito) as "no constraints"; only where long-term memory is switched off by configuration is there nothing to check.
 */
export class ConstraintGate {
  readonly #parts: Required<GateParts>;

  constructor(parts: GateParts) {
    this.#parts = { readMs: GATE_READ_MS, writeBackWaitMs: WRITE_BACK_WAIT_MS, ...parts };
  }

  /**
   * One read for a call of `tool`; the answer judges any section. `toBook`: it waits for what the guest has said to be in memory.
   * @throws the signal's reason when the turn is aborted
   */
  async read(tool: string, context: ToolContext, { toBook }: { readonly toBook: boolean }): Promise<Judge> {
    let constraints = await this.#constraints(context);
    // Where the store can't be read, there is nothing to wait for.
    if (toBook && constraints !== "disabled" && constraints.complete) {
      const written = await this.#writtenBack(context);
      constraints = await this.#constraints(context);
      if (!written && constraints !== "disabled") constraints = { ...constraints, complete: false };
    }
    return (event, section, party, waived) => judge(tool, constraints, event, section, party, waived);
  }

  async #constraints(context: ToolContext): Promise<Constraints> {
    const { longTerm, readMs, logger } = this.#parts;
    if (context.memory === "off") return { known: [], complete: false };
    try {
      const known = await within(readMs, context.signal, (signal) => longTerm.constraints(context.owner, { now: context.now, signal }));
      return { known, complete: true };
    } catch (error) {
      context.signal.throwIfAborted();
      if (isAppError(error, "LONG_TERM_MEMORY_DISABLED")) return "disabled";
      logger.warn({ code: codeOf(error) }, "constraints could not be read for a booking");
      return { known: [], complete: false };
    }
  }

  async #writtenBack(context: ToolContext): Promise<boolean> {
    const { writtenBack, writeBackWaitMs, logger } = this.#parts;
    let code = "PENDING";
    try {
      if (await within(writeBackWaitMs, context.signal, (signal) => writtenBack(context.owner, signal))) return true;
    } catch (error) {
      context.signal.throwIfAborted();
      code = codeOf(error);
    }
    logger.warn({ session_id: context.sessionId, code }, "a booking found something that the guest said and that is not in memory");
    return false;
  }
}

/** Raced with its bound: what pays no heed to its signal must not hold up the booking. */
async function within<T>(ms: number, turn: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const bound = new AbortController();
  const timer = setTimeout(() => bound.abort(new DOMException("It took too long.", "TimeoutError")), ms);
  const signal = AbortSignal.any([turn, bound.signal]);
  let onAbort: (() => void) | undefined;
  try {
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
    });
    return await Promise.race([work(signal), aborted]);
  } finally {
    clearTimeout(timer);
    if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
  }
}

function codeOf(error: unknown): string {
  if (isAppError(error)) return error.code;
  return error instanceof DOMException && error.name === "TimeoutError" ? "TIMEOUT" : "UNKNOWN";
}

/** Pure: every rule of the gate can be tested as a table. */
export function judge(
  tool: string,
  constraints: Constraints,
  event: CatalogueEvent,
  section: Section,
  party: Party,
  waived: readonly string[],
): Verdict {
  if (constraints === "disabled") return { state: "pass", along: [], checked: [], reminders: [] };
  const conflicts: Conflict[] = [];
  const checked: string[] = [];
  const reminders: string[] = [];
  const along = new Set<string>();
  for (const memory of constraints.known) {
    const touch = TOUCHES.get(memory.category);
    if (touch === undefined || !touch.tools.includes(tool)) continue;
    const words = `${memory.text} ${memory.aspect}`;
    const judgement = touch.judge(words, event, section);
    const companion = memory.subject.startsWith("companion:") ? memory.subject.slice("companion:".length) : null;
    const names = companion === null ? [] : [companion, ...memory.entities];
    if (companion !== null && !names.some((name) => comesAlong(name, party.companions, party.words))) {
      if (judgement.state !== "met") reminders.push(`If ${companion} comes along: ${memory.text}. ${judgement.because}`);
      continue;
    }
    if (companion !== null) along.add(companion);
    checked.push(memory.text);
    if (judgement.state === "met" || waived.includes(memory.id)) continue;
    conflicts.push({
      memoryId: memory.id,
      memory: memory.text,
      who: companion ?? "self",
      because: judgement.because,
      unknown: judgement.state === "unknown",
      source: memory.source,
    });
  }
  if (conflicts.length > 0) return { state: "stop", along: [...along], conflicts };
  if (!constraints.complete && !waived.includes(WAIVED_UNCHECKED)) return { state: "unchecked", along: [...along] };
  return { state: "pass", along: [...along], checked, reminders };
}
