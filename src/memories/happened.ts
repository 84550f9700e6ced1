import { HABIT, HAPPENED, MAX_EVENTS, type MemoryRecord } from "../domain/memory-record.js";
import { happenedId, type Owner } from "../domain/owner.js";
import { derivedId } from "../platform/ids.js";
import type { DomainRecords, Happening } from "../ports/agent.js";
import type { LoggedMemories, MemoryChanges } from "./memory-changes.js";
import { madeByCode } from "./statement-record.js";

/** So many alike are asked about as a habit. */
const ALIKE = 3;
/** Events of one entry of the log. */
const BATCH = 100;
const HABIT_KEY = "habit:";

export interface HappenedParts {
  readonly changes: MemoryChanges;
  /** What the domain's own records say. */
  readonly happened: NonNullable<DomainRecords["happened"]>;
  /** False for what was done where nothing may be kept (an incognito session). Default: all may be. */
  readonly mayKeep?: (owner: Owner, sessionId: string) => Promise<boolean>;
}

/**
 * Turns what a guest did into memories, by code: an episodic memory for each event, at most once for its id; what is taken back ends. The
 * third of a kind proposes a habit that waits for the guest's word, once and never again. The place in the domain's records stands in the
 * same entry of the log as the memories, so nothing is lost or doubled by a crash.
 */
export class HappenedMemories {
  readonly #parts: HappenedParts;

  constructor(parts: HappenedParts) {
    this.#parts = parts;
  }

  /** Takes what is behind the cursor. Returns how many events that were. @throws OWNER_ERASED, and what the log throws */
  async catchUp(owner: Owner, options: { readonly now: Date; readonly signal?: AbortSignal }): Promise<number> {
    let taken = 0;
    for (;;) {
      options.signal?.throwIfAborted();
      const { result } = await this.#parts.changes.change(owner, (memories) => this.#plan(owner, memories, options.now), options);
      taken += result;
      if (result < BATCH) return taken;
    }
  }

  async #plan(owner: Owner, memories: LoggedMemories, now: Date) {
    const events = await this.#behind(owner, memories.happenedCursor);
    const last = events.at(-1);
    if (last === undefined) return { entry: null, result: 0 };
    const puts = new Map<string, MemoryRecord>();
    const current = (id: string) => puts.get(id) ?? memories.records.get(id);
    for (const event of events) {
      if (event.takes_back !== null) {
        const before = current(happenedId(owner, event.takes_back));
        if (before?.status === "active") puts.set(before.id, takenBack(before, event.at, now));
        continue;
      }
      const id = happenedId(owner, event.id);
      if (current(id) !== undefined || memories.isRemoved(id) || !(await this.#mayKeep(owner, event))) continue;
      puts.set(id, episodic(id, event, now));
      for (const habit of event.habits) {
        const all = new Map([...memories.records, ...puts]);
        const proposal = habitOf(owner, habit, all, memories, now);
        if (proposal !== null) puts.set(proposal.id, proposal);
      }
    }
    const entry = { kind: "happened", turn: null, puts: [...puts.values()], removed: [], happened_cursor: last.cursor } as const;
    return { entry, result: events.length };
  }

  async #behind(owner: Owner, cursor: string | null): Promise<readonly Happening[]> {
    const events: Happening[] = [];
    for await (const event of this.#parts.happened(owner, cursor)) {
      events.push(event);
      if (events.length === BATCH) break;
    }
    return events;
  }

  async #mayKeep(owner: Owner, { session_id }: Happening): Promise<boolean> {
    return session_id === null || ((await this.#parts.mayKeep?.(owner, session_id)) ?? true);
  }
}

function episodic(id: string, event: Happening, now: Date): MemoryRecord {
  const tags = [HAPPENED, ...event.habits.map(({ key }) => `${HABIT_KEY}${key}`)];
  const { text, category, entities } = event;
  return madeByCode({ id, text, category, aspect: event.id, type: "episodic", explicit: true, entities, tags }, event.at, now);
}

function takenBack(record: MemoryRecord, at: string, now: Date): MemoryRecord {
  return {
    ...record,
    status: "superseded",
    valid_until: Date.parse(at) < Date.parse(record.valid_from) ? record.valid_from : at,
    events: [...record.events, { at: now.toISOString(), event: "superseded" as const }].slice(-MAX_EVENTS),
    updated_at: now.toISOString(),
  };
}

/** A proposal where enough of a kind hold, none was made before, and the guest has said nothing of it themself. */
function habitOf(
  owner: Owner,
  habit: Happening["habits"][number],
  records: ReadonlyMap<string, MemoryRecord>,
  memories: LoggedMemories,
  now: Date,
): MemoryRecord | null {
  const id = derivedId("memory", owner, "habit", habit.key);
  if (records.has(id) || memories.isRemoved(id)) return null;
  const { text, category, aspect } = habit;
  const all = [...records.values()].filter(({ status, subject }) => status === "active" && subject === "self");
  if (all.some((record) => record.explicit && record.category === category && record.aspect === aspect)) return null;
  const alike = all.filter(({ tags }) => tags.includes(HAPPENED) && tags.includes(`${HABIT_KEY}${habit.key}`));
  if (alike.length < ALIKE) return null;
  const made = { id, text, category, aspect, type: "preference", explicit: false, status: "review", reason: "inferred" } as const;
  return madeByCode({ ...made, confidence: 0.6, entities: alike.map((record) => record.id), tags: [HABIT] }, now.toISOString(), now);
}
