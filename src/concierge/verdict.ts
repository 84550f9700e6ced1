import type { Memory, MemorySource } from "../domain/memory.js";
import type { CatalogueEvent, Section } from "./catalogue.js";
import { isAmong, isNamedIn, joined } from "./companions.js";
import { checkNeed, type NeedCheck } from "./need-check.js";
import { SUBSTANCES } from "./needs.js";

/** What of everybody's needs stands against a booking. Pure: every rule of the gate can be tested as a table. */

export interface Conflict {
  readonly memoryId: string;
  readonly memory: string;
  /** `self`, or the companion's name. */
  readonly who: string;
  readonly because: string;
  /** It waits for the guest's word: the answer asks whether it is so. */
  readonly toConfirm: boolean;
  /** Where the guest said it; null for a memory that was added by hand. */
  readonly source: MemorySource | null;
}

/** Something to be said once before the booking is made; it stops nothing after that. */
export interface Mention {
  readonly memoryId: string;
  readonly line: string;
  /** False for a companion of whom nobody said that they come. */
  readonly along: boolean;
}

export interface Verdict {
  /** Companions of memories who are in the party, by the names of the memories. */
  readonly along: readonly string[];
  /** What would be broken: only the guest's consent books it. */
  readonly conflicts: readonly Conflict[];
  /** What the catalogue doesn't say, what stood in brought-along text, and companions of whom nobody said whether they come. */
  readonly mentions: readonly Mention[];
  /** Memories that were compared and are met. */
  readonly met: readonly string[];
  /** True where there may be needs that could not be read. */
  readonly unchecked: boolean;
}

export interface Party {
  /** As the booking names them. */
  readonly companions: readonly string[];
  /** Those of whom the guest said that they don't come. */
  readonly absent: readonly string[];
  /** Seats. */
  readonly size: number;
  /** The guest's own messages of this session that are in sight. */
  readonly said: readonly string[];
  readonly sessionId: string;
}

/** `complete`: false where there may be more than could be read. `disabled`: long-term memory is switched off by configuration. */
export type KnownNeeds = { readonly known: readonly Memory[]; readonly complete: boolean } | "disabled";

const COMPANION = "companion:";

export function judge(needs: KnownNeeds, event: CatalogueEvent, section: Section, party: Party, now: Date): Verdict {
  if (needs === "disabled") return { along: [], conflicts: [], mentions: [], met: [], unchecked: false };
  const conflicts: Conflict[] = [];
  const mentions: Mention[] = [];
  const met: string[] = [];
  const along = new Set<string>();
  const hard = needs.known.filter((memory) => concerns(memory, event, now));
  for (const memory of hard) {
    const who = memory.subject.startsWith(COMPANION) ? memory.subject.slice(COMPANION.length) : null;
    const comes = who === null ? "yes" : comesAlong(memory, hard, party);
    if (comes === "no") continue;
    if (who !== null && comes === "yes") along.add(who);
    const check = checkMemory(memory, event, section);
    if (check.state === "met") {
      if (comes === "yes") met.push(memory.text);
      continue;
    }
    const toConfirm = memory.status === "review" || memory.pending_change !== null;
    const asks = toConfirm ? " It is not confirmed: ask whether it is so." : "";
    if (comes === "unsaid")
      mentions.push({ memoryId: memory.id, along: false, line: `If ${who} comes along: ${memory.text}. ${check.because}${asks}` });
    else if (check.state === "unknown" || memory.reason === "brought_along")
      mentions.push({ memoryId: memory.id, along: true, line: `${who === null ? "" : `${who}: `}${memory.text}. ${check.because}${asks}` });
    else
      conflicts.push({
        memoryId: memory.id,
        memory: memory.text,
        who: who ?? "self",
        because: check.because,
        toConfirm,
        source: memory.source,
      });
  }
  return { along: [...along], conflicts, mentions, met, unchecked: !needs.complete };
}

/** "Tree nuts", not "nuts and milk". */
const MOST_WORDS = 2;

/** Of several things that must not be in the food one need tells only one: that it is met says nothing of the others. */
function checkMemory({ need, about }: Memory, event: CatalogueEvent, section: Section): NeedCheck {
  const check = checkNeed(need, event, section);
  const several = need !== null && SUBSTANCES.has(need) && about.trim().split(/\s+/u).length > MOST_WORDS;
  return check.state === "met" && several && event.kitchen !== null ? checkNeed("other", event, section) : check;
}

/** Hard, active or waiting, not over by now, and begun when the event begins. */
function concerns(memory: Memory, event: CatalogueEvent, now: Date): boolean {
  const begins = Math.max(now.getTime(), event.startsAt.getTime());
  return (
    memory.strength === "hard" &&
    (memory.status === "active" || memory.status === "review") &&
    (memory.valid_until === null || Date.parse(memory.valid_until) > now.getTime()) &&
    Date.parse(memory.valid_from) <= begins
  );
}

/**
 * Who is named comes. Where there are more seats than names, so does whoever the guest spoke of in this session; of others it is unsaid
 * whether they come.
 */
function comesAlong(memory: Memory, known: readonly Memory[], party: Party): "yes" | "no" | "unsaid" {
  const same = known.filter(({ subject }) => subject === memory.subject);
  const names = [memory.subject.slice(COMPANION.length), ...same.flatMap(({ entities }) => entities)];
  if (isAmong(names, party.absent)) return "no";
  if (isAmong(names, party.companions)) return "yes";
  const guests = joined(["self"], party.companions).length;
  if (party.size <= guests) return "no";
  const spoken = isNamedIn(names, party.said) || same.some(({ source }) => source?.session_id === party.sessionId);
  return spoken ? "yes" : "unsaid";
}
