import type { BookingReceipt } from "../../domain/booking-receipt.js";
import type { Memory } from "../../domain/memory.js";
import { heldAt, holdsAt, isWaiting, type MemoryRecord, neverHeld } from "../../domain/memory-record.js";
import { type Owner, ownerOf, parseOwner } from "../../domain/owner.js";
import type { JsonValue } from "../../domain/session.js";
import type { Clock } from "../../platform/clock.js";
import { collected } from "../../platform/collected.js";
import { AppError } from "../../platform/errors.js";
import { addTo } from "../../platform/lists.js";
import { present } from "../../platform/present.js";
import type { ConversationList } from "../../ports/conversation-list.js";
import type { MemoryLog, MemoryLogEntry } from "../../ports/memory-log.js";
import type { OwnerLedger } from "../../ports/owner-ledger.js";
import type { Page } from "../../ports/session-store.js";
import type { GuestName, PageQuery } from "../../ports/studio.js";
import type { GuestDetail, TimelineEntry, TimelineEvent, WaitingMemory } from "../../ports/studio-views.js";
import type { AuditedLooks, ShowText } from "./looks.js";

/** An owner's memories as their log says, all states. */
export type KnownRecords = (owner: Owner) => Promise<ReadonlyMap<string, MemoryRecord>>;

export interface GuestsParts {
  readonly list: Pick<ConversationList, "residue">;
  /** Null when long-term memory is off. */
  readonly known: KnownRecords | null;
  readonly log: Pick<MemoryLog, "read" | "lastSeq" | "waiting">;
  readonly ledger: Pick<OwnerLedger, "receipts">;
  readonly bookings: (owner: Owner) => Promise<readonly JsonValue[]>;
  readonly bookingReceipts: (owner: Owner) => Promise<readonly BookingReceipt[]>;
  readonly content: boolean;
  readonly show: ShowText;
  readonly looks: AuditedLooks;
  readonly clock: Clock;
}

const SEQ_CURSOR = /^[1-9]\d{0,11}$/u;
/** When it was stated, in milliseconds, and its id. */
const STATED_CURSOR = /^\d{15}\/[\w-]{1,64}$/u;
/** Entries of a log that are read together. */
const PAGE = 100;
/** Users whose logs are read at once for what waits, and how often others are looked for in one page. */
const AT_ONCE = 20;
const MOST_ROUNDS = 10;
const MOST_RECEIPTS = 50;

/** What is known of one user, and how it came to be known. */
export class Guests {
  readonly #parts: GuestsParts;

  constructor(parts: GuestsParts) {
    this.#parts = parts;
  }

  async one(name: GuestName): Promise<GuestDetail> {
    const { list, known, ledger, bookings, bookingReceipts, content, looks, clock } = this.#parts;
    const owner = ownerOf(name.tenant, name.user);
    const [sessions, records, booked, receipts] = await Promise.all([
      list.residue(owner),
      known?.(owner) ?? null,
      bookings(owner),
      ledger.receipts(owner),
    ]);
    if (sessions + (records?.size ?? 0) + booked.length + receipts.length === 0) throw new AppError("NOT_FOUND");
    await looks.at(owner, "guest");
    const all = records === null ? null : [...records.values()];
    const now = clock.now();
    return {
      tenant: name.tenant,
      user: name.user,
      sessions,
      memories: all?.filter((record) => holdsAt(record, now)).length ?? null,
      waiting: all?.filter(isWaiting).length ?? null,
      bookings: content ? booked : null,
      bookings_count: booked.length,
      booking_receipts: content ? (await bookingReceipts(owner)).slice(0, MOST_RECEIPTS) : null,
      receipts,
    };
  }

  async timeline(name: GuestName, { limit, cursor, asOf }: PageQuery & { readonly asOf?: string }): Promise<Page<TimelineEntry>> {
    const owner = ownerOf(name.tenant, name.user);
    const { known, log, looks } = this.#parts;
    if (known === null) throw new AppError("LONG_TERM_MEMORY_DISABLED");
    if (cursor !== undefined && !(asOf === undefined ? SEQ_CURSOR : STATED_CURSOR).test(cursor)) throw new AppError("INVALID_CURSOR");
    const last = await log.lastSeq(owner);
    if (last > 0) await looks.at(owner, "timeline");
    if (asOf !== undefined) return this.#asOf(await known(owner), new Date(asOf), { limit, ...(cursor !== undefined && { cursor }) });
    const data: TimelineEntry[] = [];
    let until = cursor === undefined ? last : Math.min(last, Number(cursor) - 1);
    while (until > 0 && data.length < limit) {
      const from = Math.max(1, until - Math.min(PAGE, limit) + 1);
      const entries = await collected(log.read(owner, { fromSeq: from, toSeq: until }));
      for (const entry of entries.reverse()) {
        if (data.length >= limit) break;
        data.push(...this.#eventsOf(entry));
        until = entry.seq - 1;
      }
      if (entries.length === 0) until = from - 1;
    }
    return { data, nextCursor: until > 0 ? String(until + 1) : null };
  }

  /** Users in the order of their partitions; what is told of each is what their log says. */
  async waiting({ limit, cursor, tenant }: PageQuery & { readonly tenant?: string }): Promise<Page<WaitingMemory>> {
    const { log, known, looks } = this.#parts;
    await looks.atAll("waiting");
    if (known === null) return { data: [], nextCursor: null };
    const data: WaitingMemory[] = [];
    let after = cursor;
    for (let round = 0; round < MOST_ROUNDS && data.length < limit; round++) {
      const page = await log.waiting({ limit: AT_ONCE, ...present({ tenant, cursor: after }) });
      const found = await Promise.all(page.data.map(async (owner) => ({ owner, records: await known(owner) })));
      for (const { owner, records } of found)
        for (const record of records.values()) if (isWaiting(record)) data.push(this.#waits(owner, record));
      if (page.nextCursor === null) return { data, nextCursor: null };
      after = page.nextCursor;
    }
    return { data, nextCursor: after ?? null };
  }

  /** What held then, the last stated first, each at the time at which it was stated. */
  #asOf(records: ReadonlyMap<string, MemoryRecord>, then: Date, { limit, cursor }: PageQuery): Page<TimelineEntry> {
    const placed = [...records.values()]
      .filter((record) => heldAt(record, then))
      .map((record) => ({ record, place: placeOf(record) }))
      .filter(({ place }) => cursor === undefined || place < cursor)
      .toSorted((a, b) => (a.place < b.place ? 1 : -1));
    const page = placed.slice(0, limit);
    return {
      data: page.map(({ record }) => this.#entry("holds", record, record.stated_at, null)),
      nextCursor: placed.length > limit ? (page.at(-1)?.place ?? null) : null,
    };
  }

  #waits(owner: Owner, record: MemoryRecord): WaitingMemory {
    const change = record.pending_change;
    const { text, text_chars } = this.#parts.show("text", change?.statement?.text ?? record.text);
    return {
      ...parseOwner(owner),
      memory_id: record.id,
      text,
      text_chars: text_chars ?? 0,
      reason: change?.reason ?? record.reason,
      since: change?.stated_at ?? record.stated_at,
      asked: change?.asked ?? record.asked,
    };
  }

  #eventsOf({ kind, at, puts, removed, turn }: MemoryLogEntry): readonly TimelineEntry[] {
    // That somebody was asked, or that quotes went, is no event of a memory's life.
    if (kind === "recalled" || kind === "detach") return [];
    const replaced = new Map<string, string[]>();
    for (const { id, superseded_by } of puts) if (superseded_by !== null) addTo(replaced, superseded_by, id);
    const gone = removed.map(
      (id): TimelineEntry => ({
        ...{ at, event: kind === "settle" ? "rejected" : "forgotten", memory_id: id },
        ...{ text: null, text_chars: null, quote: null, quote_chars: null, replaces: [], reason: null },
        ...{ session_id: turn?.session_id ?? null, turn: turn?.turn ?? null },
      }),
    );
    const changed = puts.map((record) => ({
      ...this.#entry(eventOf(record, at), record, at, turn),
      replaces: replaced.get(record.id) ?? [],
    }));
    return [...gone, ...changed.reverse()];
  }

  #entry(
    event: TimelineEvent,
    memory: Memory,
    at: string,
    turn: { readonly session_id: string; readonly turn: number } | null,
  ): TimelineEntry {
    const change = event === "waits" ? memory.pending_change : null;
    const source = change?.source ?? memory.source;
    const { show } = this.#parts;
    return {
      ...{ at, event, memory_id: memory.id },
      ...{ ...show("text", change?.statement?.text ?? memory.text), ...show("quote", source?.quote) },
      ...{ replaces: [], reason: change?.reason ?? (event === "waits" ? memory.reason : null) },
      ...{ session_id: turn?.session_id ?? source?.session_id ?? null, turn: turn?.turn ?? source?.turn ?? null },
    };
  }
}

function placeOf({ stated_at, id }: MemoryRecord): string {
  return `${String(Date.parse(stated_at)).padStart(15, "0")}/${id}`;
}

/** What an entry of the log made of a memory. */
function eventOf(record: MemoryRecord, at: string): TimelineEvent {
  const last = record.events.at(-1);
  if (isWaiting(record)) return "waits";
  if (record.status === "superseded") {
    if (record.superseded_by !== null) return "superseded";
    if (last?.event === "expired") return "expired";
    return neverHeld(record) ? "rejected" : "ended";
  }
  // What leaves no event of its own is a change that waited, and was dropped.
  return last?.at === at ? last.event : "rejected";
}
