import type { Memory } from "../domain/memory.js";
import { kindByName, readableName } from "../domain/need-name.js";
import { needsNamedIn } from "../languages/need-talk.js";
import { numberIn } from "../languages/numbers.js";
import { isAppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { Need } from "../ports/agent.js";
import type { Stated } from "../ports/binding.js";
import type { Candidate, NeedCheck } from "./verdict.js";

/** Of what must not be in it a memory names one thing: "tree nuts", not "nuts and milk". */
const MOST_WORDS = 2;

/** Whether a memory is about several things, of which its need names only one: that this one is met says nothing of the others. */
export function isOfSeveral({ about }: Pick<Memory, "about">): boolean {
  return about.trim().split(/\s+/u).length > MOST_WORDS;
}

export interface StatedParts {
  readonly needs: readonly Need[];
  /** The need's name, by it or by another spelling; null for none of the domain's. */
  readonly needMeant: (said: string | null) => string | null;
  /** Told of a need whose `states` throws. Default: nobody is told. */
  readonly logger?: Pick<Logger, "warn">;
}

/**
 * The need that a memory is of: by its name, or by another spelling; of what is soft and names none, the limit in whose category it is and
 * that it speaks of. Undefined: none of the domain's.
 */
function needOf(memory: Memory, parts: StatedParts): Need | undefined {
  const { needs, needMeant } = parts;
  const name = needMeant(memory.need);
  if (name !== null || memory.strength === "hard") return needs.find((each) => each.name === name);
  return needs.find((each) => isLimit(each) && each.category === memory.category && speaksOf(memory, each, parts));
}

/** A category may hold more than its limits: where somebody lives, beside how far it may be. */
function speaksOf({ aspect, category, text }: Memory, { name, slot }: Need, { needs, needMeant }: StatedParts): boolean {
  if ([aspect, category].some((said) => said !== "" && (said === slot || needMeant(said) === name))) return true;
  return needsNamedIn(text, needs).has(name);
}

/** Whether it is one that is held against the number in the guest's own words. */
export function isLimit({ kind }: { readonly kind?: Need["kind"] | undefined }): boolean {
  return kind === "at_most" || kind === "at_least";
}

/**
 * Which soft memories are held against what is booked: the guest's own limits, of a limit need or in one of the categories whose
 * statements are limits.
 */
export function softLimits(limits: readonly string[], parts: StatedParts): (memory: Memory) => boolean {
  return (memory) => {
    if (memory.strength !== "soft" || memory.subject !== "self") return false;
    return limits.includes(memory.category) || isLimit(needOf(memory, parts) ?? {});
  };
}

/** Something of a domain's catalogue, as the gate judges it. `line`: as the guest is shown it. */
export function candidateOf(item: unknown, line: string, startsAt: Date | null, parts: StatedParts): Candidate {
  return {
    startsAt,
    check: (memory) => {
      const need = needOf(memory, parts);
      if (need === undefined) return notStated(line, need);
      const { kind = kindByName(need.name) } = need;
      const stated = met(statedOf(item, need, parts), kind, memory);
      if (stated === "moot") return { state: "moot" };
      if (stated === false)
        return { state: "broken", because: need.because?.(item) ?? `"${line}" does not meet this: ${readableName(need.name)}.` };
      if (stated === true && !(kind === "avoid" && isOfSeveral(memory))) return { state: "met" };
      return notStated(line, need);
    },
  };
}

/** What the catalogue states of a need. A number that is not finite says nothing, nor does what throws, as of what another tool binds. */
function statedOf(item: unknown, need: Need, { logger }: StatedParts): Stated {
  try {
    const stated = need.states?.(item) ?? "unknown";
    return typeof stated === "number" && !Number.isFinite(stated) ? "unknown" : stated;
  } catch (error) {
    logger?.warn({ need: need.name, code: isAppError(error) ? error.code : "UNKNOWN" }, "what is stated of a need could not be told");
    return "unknown";
  }
}

/** What the catalogue states in numbers, by the names of the domain's limits: what a thing costs, how far it is. */
export function numbersStated(item: unknown, parts: StatedParts): Readonly<Record<string, number>> {
  const stated = parts.needs.filter(isLimit).map((need) => [need.name, statedOf(item, need, parts)] as const);
  return Object.fromEntries(stated.filter((each): each is readonly [string, number] => typeof each[1] === "number"));
}

/**
 * Each number that is worse than it was, in words: more of what is `at_most`, less of what is `at_least`, or not stated any more. One that
 * was not stated before is none: nobody has agreed to another.
 */
export function worseNumbers(
  was: Readonly<Record<string, number>>,
  is: Readonly<Record<string, number>>,
  needs: readonly Need[],
): readonly string[] {
  return needs.filter(isLimit).flatMap(({ name, kind }) => {
    const [before, now] = [was[name], is[name]];
    if (before === undefined || (now !== undefined && (kind === "at_least" ? now >= before : now <= before))) return [];
    return `${readableName(name)}: ${before} before, ${now === undefined ? "not stated" : now} now`;
  });
}

/** A limit is held against the one number in the memory, else in the words that it is of. */
function met(stated: Stated, kind: Need["kind"], { text, source }: Memory): Exclude<Stated, number> {
  if (typeof stated !== "number") return stated;
  const limit = numberIn(text) ?? numberIn(source?.quote ?? "");
  if (limit === null) return "unknown";
  return kind === "at_least" ? stated >= limit : stated <= limit;
}

function notStated(line: string, need: Need | undefined): NeedCheck {
  const what = need === undefined ? "suits this" : `meets this: ${readableName(need.name)}`;
  return { state: "unknown", because: `It is not stated whether "${line}" ${what}.` };
}
