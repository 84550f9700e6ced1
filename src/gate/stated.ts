import type { Memory } from "../domain/memory.js";
import { readableName } from "../domain/need-name.js";
import type { Need } from "../ports/agent.js";
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

/** Something of a domain's catalogue, as the gate judges it. `line`: as the guest is shown it. */
export function candidateOf(item: unknown, line: string, startsAt: Date | null, { needs, needMeant }: StatedParts): Candidate {
  return {
    startsAt,
    check: (memory) => {
      const name = needMeant(memory.need);
      const need = needs.find((each) => each.name === name);
      const stated = need?.states?.(item) ?? "unknown";
      if (stated === false) return { state: "broken", because: `"${line}" does not meet this: ${readableName(need?.name ?? "")}.` };
      if (stated === true && !(need?.kind === "avoid" && isOfSeveral(memory))) return { state: "met" };
      return notStated(line, need);
    },
  };
}

function notStated(line: string, need: Need | undefined): NeedCheck {
  const what = need === undefined ? "suits this" : `meets this: ${readableName(need.name)}`;
  return { state: "unknown", because: `It is not stated whether "${line}" ${what}.` };
}
