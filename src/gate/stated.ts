import type { Memory } from "../domain/memory.js";
import { kindByName, readableName } from "../domain/need-name.js";
import { numberIn } from "../languages/numbers.js";
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
}

/**
 * The need that a memory is of: by its name, or by another spelling; of what is soft and names none, the limit whose category it is in.
 * Undefined: none of the domain's.
 */
function needOf({ need, strength, category }: Memory, { needs, needMeant }: StatedParts): Need | undefined {
  const name = needMeant(need);
  if (name !== null || strength === "hard") return needs.find((each) => each.name === name);
  return needs.find((each) => isLimit(each) && each.category === category);
}

/** Whether it is one that is held against the number in the guest's own words. */
export function isLimit({ kind }: { readonly kind?: Need["kind"] | undefined }): boolean {
  return kind === "at_most" || kind === "at_least";
}

/**
 * Which soft memories are held against what is booked: the guest's own limits, of a limit need or in one of the categories whose
 * statements are limits.
 */
export function softLimits(limits: readonly string[], { needs, needMeant }: StatedParts): (memory: Memory) => boolean {
  const ofLimit = (name: string | null) => needs.some((need) => need.name === name && isLimit(need));
  return ({ strength, subject, category, need }) =>
    strength === "soft" && subject === "self" && (limits.includes(category) || ofLimit(needMeant(need)));
}

/** Something of a domain's catalogue, as the gate judges it. `line`: as the guest is shown it. */
export function candidateOf(item: unknown, line: string, startsAt: Date | null, parts: StatedParts): Candidate {
  return {
    startsAt,
    check: (memory) => {
      const need = needOf(memory, parts);
      if (need === undefined) return notStated(line, need);
      const { kind = kindByName(need.name) } = need;
      const stated = met(need.states?.(item) ?? "unknown", kind, memory);
      if (stated === "moot") return { state: "moot" };
      if (stated === false)
        return { state: "broken", because: need.because?.(item) ?? `"${line}" does not meet this: ${readableName(need.name)}.` };
      if (stated === true && !(kind === "avoid" && isOfSeveral(memory))) return { state: "met" };
      return notStated(line, need);
    },
  };
}

/** What the catalogue states in numbers, by the names of the domain's limits: what a thing costs, how far it is. */
export function numbersStated(item: unknown, needs: readonly Need[]): Readonly<Record<string, number>> {
  const stated = needs.map(({ name, states }) => [name, states?.(item)] as const);
  return Object.fromEntries(stated.filter((each): each is readonly [string, number] => typeof each[1] === "number"));
}

/** Each that is not what it was, in words. */
export function changedNumbers(was: Readonly<Record<string, number>>, is: Readonly<Record<string, number>>): readonly string[] {
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter((name) => was[name] !== is[name]);
  return names.map((name) => `${readableName(name)}: ${is[name] ?? NOT_STATED}, it was ${was[name] ?? NOT_STATED}`);
}

const NOT_STATED = "not stated";

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
