import type { Memory, MemorySource } from "../domain/memory.js";
import { plain } from "../platform/phrase-list.js";
import { areSaidTogether, isAmong, isAnybody, isNamedIn, isOwnName, isTheirs, mayMean, ownsRelationIn } from "./companions.js";
import { People } from "./people.js";

/** What of everybody's needs stands against a booking. Pure: every rule of the gate can be tested as a table. */

export interface Conflict extends Pick<CheckedNeed, "memoryId" | "memory" | "who" | "needName" | "toConfirm" | "source"> {
  /** What must hold, and for whom. */
  readonly need: string;
  readonly because: string;
}

/** Something to be said once before the booking is made; it stops nothing after that. */
export interface Mention {
  /** Of the memory; of a booking that was made before, `booking:` and its id. */
  readonly id: string;
  readonly line: string;
  /** What must hold, and for whom. Absent where it is of no memory, and of a limit that need not hold. */
  readonly need?: string;
  /** False for a companion of whom nobody said that they come. */
  readonly along: boolean;
}

/** A need, or a soft limit, as it was held against what was to be booked: all that a verdict follows from. */
export interface CheckedNeed {
  readonly memoryId: string;
  /** `soft`: a limit that need not hold: what is over it is asked about once, and stops nothing. */
  readonly strength: "hard" | "soft";
  /** What must hold, with its condition. */
  readonly memory: string;
  /** `self`, or the companion's name. */
  readonly who: string;
  /** The need's name, as the memory has it. */
  readonly needName: string | null;
  /** It waits for the guest's word: the answer asks whether it is so. */
  readonly toConfirm: boolean;
  /** It stood in text that the guest had brought along: it stops nothing. */
  readonly broughtAlong: boolean;
  /** Where the guest said it; null for a memory that was added by hand. */
  readonly source: MemorySource | null;
  /** Whether they come. Of who doesn't nothing is checked. */
  readonly comes: "yes" | "unsaid";
  readonly stated: NeedCheck;
}

export interface Basis {
  readonly needs: readonly CheckedNeed[];
  /** As {@link Verdict} has them. */
  readonly along: readonly string[];
  readonly unchecked: boolean;
  readonly memoryOff: boolean;
}

export interface Verdict {
  /** Companions of memories who are in the party, by the names of the memories; not those whom the party has under another name. */
  readonly along: readonly string[];
  /** What would be broken: only the guest's consent books it. */
  readonly conflicts: readonly Conflict[];
  /**
   * What the catalogue doesn't say, soft limits that it goes over, what stood in brought-along text, companions of whom nobody said whether
   * they come, and what the guest has booked of it already.
   */
  readonly mentions: readonly Mention[];
  /** Memories that were compared and are met. */
  readonly met: readonly string[];
  /** Ids of the memories that were compared: met, broken or to be mentioned. */
  readonly checked: readonly string[];
  /** True where there may be needs that could not be read. */
  readonly unchecked: boolean;
  /** True where that is because long-term memory is switched off. */
  readonly memoryOff: boolean;
  /** What it follows from, but for what a domain adds of its own. */
  readonly basis: Basis;
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
  /** Whoever this message speaks of may come, though nobody counted them. Default: the size says how many come. */
  readonly uncounted?: string;
  readonly sessionId: string;
}

/**
 * `limits`: soft ones, default none. `complete`: false where there may be more than could be read. `told`: what else is told of companions,
 * by which names they go; default nothing. `memoryOff`: long-term memory is switched off by configuration: a need that was said is kept
 * nowhere. Default false.
 */
export interface KnownNeeds {
  readonly known: readonly Memory[];
  readonly limits?: readonly Memory[];
  readonly told?: readonly Memory[];
  readonly complete: boolean;
  readonly memoryOff?: boolean;
}

/**
 * Whether what is to be booked meets a need. `unknown` is not `met`: what isn't stated is told to the guest. `moot`: there is nothing in it
 * that could break the need.
 */
export type NeedCheck =
  | { readonly state: "met" }
  | { readonly state: "moot" }
  | { readonly state: "broken" | "unknown"; readonly because: string };

/** What may be booked. */
export interface Candidate {
  /** Null where that isn't told: now. */
  readonly startsAt: Date | null;
  check(need: Memory): NeedCheck;
}

const COMPANION = "companion:";

/** `people`: who is who. Default: as what is known and said tells. */
export function judge(
  needs: KnownNeeds,
  candidate: Candidate,
  party: Party,
  now: Date,
  people: People = peopleOf(needs, [...party.companions, ...party.absent], party.said),
): Verdict {
  const checked: CheckedNeed[] = [];
  const along = new Set<string>();
  const hard = needs.known.filter((memory) => memory.strength === "hard" && concerns(memory, candidate, now));
  const soft = (needs.limits ?? []).filter((memory) => concerns(memory, candidate, now));
  for (const memory of [...hard, ...soft]) {
    const who = companionOf(memory);
    const comes = who === null ? "yes" : comesAlong(memory, hard, party, people);
    if (comes === "no") continue;
    if (who !== null && comes === "yes") along.add(who);
    checked.push({
      memoryId: memory.id,
      strength: memory.strength,
      memory: withCondition(memory),
      who: who ?? "self",
      needName: memory.need,
      toConfirm: memory.status === "review" || memory.pending_change !== null,
      broughtAlong: memory.reason === "brought_along",
      source: memory.source,
      comes: comes === "unsaid" ? "unsaid" : "yes",
      stated: candidate.check(memory),
    });
  }
  return verdictOf({
    needs: checked,
    along: people.once([...along]),
    unchecked: !needs.complete,
    memoryOff: needs.memoryOff === true,
  });
}

function companionOf({ subject }: Memory): string | null {
  return subject.startsWith(COMPANION) ? subject.slice(COMPANION.length) : null;
}

/** What follows from what was checked, and from nothing else. */
export function verdictOf(basis: Basis): Verdict {
  const checked: string[] = [];
  const conflicts: Conflict[] = [];
  const mentions: Mention[] = [];
  const met: string[] = [];
  for (const { memoryId, strength, memory, who, needName, toConfirm, broughtAlong, source, comes, stated } of basis.needs) {
    if (stated.state === "moot" || (stated.state === "met" && comes === "unsaid")) continue;
    if (strength === "soft" && stated.state === "unknown") continue;
    checked.push(memoryId);
    if (strength === "soft") {
      // Of a limit that is kept nothing is said.
      if (stated.state === "broken") mentions.push({ id: memoryId, along: true, line: `You told me: “${memory}”. ${stated.because}` });
      continue;
    }
    if (stated.state === "met") {
      met.push(memory);
      continue;
    }
    const { because } = stated;
    const need = who === "self" ? memory : `${who}: ${memory}`;
    if (comes === "unsaid")
      mentions.push({ id: memoryId, along: false, need, line: needLine(`If ${who} comes along: ${memory}`, because, toConfirm) });
    else if (stated.state === "unknown" || broughtAlong)
      mentions.push({ id: memoryId, along: true, need, line: needLine(need, because, toConfirm) });
    else conflicts.push({ memoryId, memory, who, need, needName, because, toConfirm, source });
  }
  const { along, unchecked, memoryOff } = basis;
  return { along, conflicts, mentions, met, checked, unchecked, memoryOff, basis };
}

/** A need with what stands against it, or isn't known, for whoever tells the guest. */
export function needLine(need: string, because: string, toConfirm: boolean): string {
  return `${need}. ${because}${toConfirm ? " That is not confirmed yet: is it so?" : ""}`;
}

/** Who is who, as what is known and said tells. */
export function peopleOf(needs: KnownNeeds, named: readonly string[], said: readonly string[]): People {
  return new People([...needs.known, ...(needs.told ?? [])], named, said);
}

/** Whether it applies is for the guest to say: nobody here knows when "for opera" is. */
function withCondition({ text, condition }: Memory): string {
  return text.toLowerCase().includes(condition.toLowerCase()) ? text : `${text} (only ${condition})`;
}

/** Active or waiting, not over by now, and begun when what is to be booked begins. */
function concerns(memory: Memory, { startsAt }: Candidate, now: Date): boolean {
  const begins = Math.max(now.getTime(), startsAt?.getTime() ?? 0);
  return (
    (memory.status === "active" || memory.status === "review") &&
    (memory.valid_until === null || Date.parse(memory.valid_until) > now.getTime()) &&
    Date.parse(memory.valid_from) <= begins
  );
}

/**
 * Who is named comes; `called`: by another name of theirs, by a name that stands in the guest's own words for the need, or by a relation
 * that was told beside their name. Where there are more seats than people, so does whoever the guest spoke of in this session; of others
 * it is unsaid whether they come. So it is where somebody comes who may be theirs: a name that nobody has, where they are known by their
 * relation alone, another word for such a relation, or a friend without a name.
 */
function comesAlong(memory: Memory, known: readonly Memory[], party: Party, people: People): "yes" | "called" | "no" | "unsaid" {
  const names = people.namesOf(memory);
  const same = known.filter((each) => each.subject === memory.subject && !people.areTwo(each, memory));
  if (isAmong(people.namesOf(memory, { sure: true }), party.absent)) return "no";
  if (isAmong([memory.subject.slice(COMPANION.length)], party.companions)) return "yes";
  if (isAmong(names, party.companions)) return "called";
  const nobodys = party.companions.filter(
    (name) => !people.isAnothers(name, memory) && !known.some((other) => isAmong(people.namesOf(other), [name])),
  );
  const strangers = nobodys.filter(isOwnName);
  const named = nobodys.filter((name) => isOwnName(name) || isTheirs(name));
  if (same.some(({ source }) => source !== null && named.some((name) => isCalledIn(name, source.quote)))) return "called";
  const told = same.flatMap(({ text, source }) => [text, source?.quote ?? ""]);
  if (party.companions.some((name) => !isAnybody(name) && areSaidTogether(name, names, told))) return "called";
  const spoken = isNamedIn(names, party.said) || same.some(({ source }) => source?.session_id === party.sessionId);
  if (party.size > people.once(party.companions, { perhaps: true }).length + 1) return spoken ? "yes" : "unsaid";
  const hasName = names.some(isOwnName);
  const isSome = (name: string) => hasName && !isOwnName(name) && ((isAnybody(name) && spoken) || isNamedIn([name], told));
  if (party.uncounted !== undefined && isNamedIn(names, [party.uncounted])) return "unsaid";
  const perhaps = (strangers.length > 0 && !hasName) || nobodys.some((name) => mayMean(name, names) || isSome(name));
  return perhaps ? "unsaid" : "no";
}

/** By their own name, or as whose relative they are; not as the one whose relative is spoken of. */
function isCalledIn(name: string, quote: string): boolean {
  return isNamedIn([name], [quote]) && !(isOwnName(name) && ownsRelationIn(quote, plain(name)));
}

/** Why there may be needs that were not looked at, for the model to tell. */
export function whyUnchecked(incognito: boolean, memoryOff: boolean): string {
  if (incognito) return "In an incognito session the guest's needs are not looked at.";
  if (memoryOff) return "Long-term memory is switched off: what the guest needs is kept nowhere.";
  return "The guest's needs, or some of them, can't be read at the moment.";
}
