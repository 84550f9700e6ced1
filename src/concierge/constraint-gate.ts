import type { ToolContext } from "../agent.js";
import { isAppError } from "../errors.js";
import type { LongTermMemory, Memory, MemorySource } from "../long-term.js";
import type { Logger } from "../platform/logger.js";
import type { CatalogueEvent, Section } from "./catalogue.js";
import { comesAlong } from "./companions.js";
import { type Judgement, judgeAccess, judgeDiet } from "./needs.js";

/** How long the gate's own read may take. */
const GATE_READ_MS = 2_000;

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
  /** The constraints could not be read: the guest has to be asked. */
  | { readonly state: "unchecked" };

export interface Party {
  /** As the booking names them. */
  readonly companions: readonly string[];
  /** The guest's own words. */
  readonly words: string;
}

export type Judge = (event: CatalogueEvent, section: Section, party: Party, waived: readonly string[]) => Verdict;
type Constraints = readonly Memory[] | "disabled" | "unreachable";

/**
 * Stands in front of the booking tools. Reads the hard constraints itself, whatever the turn recalled, within its own bound,
 * and holds them against the catalogue for everyone in the party. It never reads "out of reach" as "no constraints";
 * only where long-term memory is switched off, by configuration or for an incognito session, is there nothing to check.
 */
export class ConstraintGate {
  readonly #longTerm: Pick<LongTermMemory, "constraints">;
  readonly #logger: Logger;
  readonly #readMs: number;

  constructor(options: { readonly longTerm: Pick<LongTermMemory, "constraints">; readonly logger: Logger; readonly readMs?: number }) {
    this.#longTerm = options.longTerm;
    this.#logger = options.logger;
    this.#readMs = options.readMs ?? GATE_READ_MS;
  }

  /** One read for a call of `tool`; the answer judges any section. @throws the signal's reason when the turn is aborted */
  async read(tool: string, context: ToolContext): Promise<Judge> {
    const constraints = await this.#constraints(context);
    return (event, section, party, waived) => judge(tool, constraints, event, section, party, waived);
  }

  async #constraints(context: ToolContext): Promise<Constraints> {
    if (context.memory === "off") return "disabled";
    const bound = AbortSignal.timeout(this.#readMs);
    const signal = AbortSignal.any([context.signal, bound]);
    let onAbort: (() => void) | undefined;
    try {
      // Raced as well: a store that pays no heed to its signal must not hold up the booking.
      const aborted = new Promise<never>((_, reject) => {
        onAbort = () => reject(signal.reason);
        signal.addEventListener("abort", onAbort, { once: true });
        if (signal.aborted) onAbort();
      });
      return await Promise.race([this.#longTerm.constraints(context.owner, { now: context.now, signal }), aborted]);
    } catch (error) {
      context.signal.throwIfAborted();
      if (isAppError(error, "LONG_TERM_MEMORY_DISABLED")) return "disabled";
      this.#logger.warn(
        { code: isAppError(error) ? error.code : "UNKNOWN", timeout: bound.aborted },
        "constraints could not be read for a booking",
      );
      return "unreachable";
    } finally {
      if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
    }
  }
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
  if (constraints === "unreachable" && !waived.includes(WAIVED_UNCHECKED)) return { state: "unchecked" };
  if (typeof constraints === "string") return { state: "pass", along: [], checked: [], reminders: [] };
  const conflicts: Conflict[] = [];
  const checked: string[] = [];
  const reminders: string[] = [];
  const along = new Set<string>();
  for (const memory of constraints) {
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
  return conflicts.length > 0 ? { state: "stop", along: [...along], conflicts } : { state: "pass", along: [...along], checked, reminders };
}
