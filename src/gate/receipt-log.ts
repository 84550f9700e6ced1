import { type BookingReceipt, bookingReceiptSchema, type ReceiptBody } from "../domain/booking-receipt.js";
import { mergedId, type Owner } from "../domain/owner.js";
import { derivedId } from "../platform/ids.js";
import type { ToolContext } from "../ports/agent.js";
import type { MergedUsers } from "../ports/identities.js";
import { committed } from "../state/durable-commit.js";
import { behind, OPERATIONS_AT_ONCE, prefixRange, type StateEngine, type StoredEntry } from "../state/engine.js";
import { optimisticCommit, unchanged } from "../state/optimistic-commit.js";
import { named, numberKey, ownerPartition } from "../state/partition.js";
import { type Booked, isOfBooking, movedReceipt, receiptBody, sealedReceipt } from "./booking-receipt.js";

const PREFIX = "receipt/";
const ALL = prefixRange(PREFIX);
/** The last one's number and hash, and the ids of the last few: a turn that is tried again keeps none twice. */
const HEAD = "receipts";
const KNOWN_IDS = 20;
/** With a merge's id: the number of the last receipt that it gave. It is committed with that one. */
const GIVEN = `${HEAD}/`;
const ALL_GIVEN = prefixRange(GIVEN);
/** Of one read. */
const PAGE = 50;
/** Of each range, in one commit. */
const ERASED_AT_ONCE = Math.floor((OPERATIONS_AT_ONCE - 1) / 2);

/** Memories of an owner by id, of every state. */
export type KnownMemories = (owner: Owner) => Promise<{ has(id: string): boolean }>;

interface Head {
  readonly number: number;
  readonly hash: string;
  readonly ids: readonly string[];
}

/** Receipts of what was booked, in their user's partition. */
export class ReceiptLog {
  /** As an erasure's receipt names them. */
  readonly name = "booking_receipts";
  readonly #engine: StateEngine;
  readonly #known: KnownMemories | null;

  /** `known`: null where long-term memory is off. */
  constructor(engine: StateEngine, known: KnownMemories | null) {
    this.#engine = engine;
    this.#known = known;
  }

  /** Durable on resolve. The same booking of a turn again adds nothing. */
  async add({ owner, sessionId, turn, now }: Pick<ToolContext, "owner" | "sessionId" | "turn" | "now">, booked: Booked): Promise<void> {
    const id = derivedId("receipt", owner, sessionId, turn, booked.tool, booked.line);
    const body = receiptBody(booked);
    await optimisticCommit(this.#engine, ownerPartition(owner), { keys: [HEAD] }, (read) => {
      const head = headIn(read.entries.get(HEAD));
      if (head?.ids.includes(id) === true) return { commit: null, result: undefined };
      const receipt = sealedReceipt({ id, at: now.toISOString(), session_id: sessionId, turn }, body, head);
      const next: Head = { number: receipt.number, hash: receipt.hash, ids: [id, ...(head?.ids ?? [])].slice(0, KNOWN_IDS) };
      const puts = [named(owner), { key: HEAD, value: JSON.stringify(next) }, { key: keyOf(receipt), value: JSON.stringify(receipt) }];
      return { commit: { epoch: read.epoch, checks: unchanged(read, HEAD), puts }, result: undefined };
    });
  }

  /** Newest first. Without the body where it tells of something that is remembered no more, or of which that can't be told. */
  async list(owner: Owner, limit: number): Promise<readonly BookingReceipt[]> {
    const { ranges } = await this.#engine.read(ownerPartition(owner), { ranges: [{ ...ALL, limit, reverse: true }] });
    const receipts = (ranges[0] ?? []).map(receiptIn);
    if (receipts.length === 0) return [];
    const gone = telling(await this.#isGone(owner));
    return receipts.map((receipt) => (gone(receipt) ? { ...receipt, body: null } : receipt));
  }

  /** Takes out what tells of memories that are no more: forgotten, or said off the record. How many. */
  async forgotten(owner: Owner): Promise<number> {
    return this.#known === null ? 0 : this.#emptied(owner, telling(await this.#isGone(owner)));
  }

  /** Takes out what tells of these memories. How many. */
  withoutMemories(owner: Owner, ids: ReadonlySet<string>): Promise<number> {
    return this.#emptied(
      owner,
      telling((id) => ids.has(id)),
    );
  }

  /** Takes out what tells of a conversation, or of what came from it. How many. */
  async detachSession(owner: Owner, sessionId: string): Promise<number> {
    return this.#emptied(
      owner,
      (receipt) =>
        receipt.session_id === sessionId || receipt.body?.checked.needs.some(({ source }) => source?.session_id === sessionId) === true,
    );
  }

  /**
   * What `from` booked is behind what `to` did, in the chain of `to`, by the ids that sessions and memories have there. How many. The same
   * merge again adds nothing.
   */
  async takeOver(users: MergedUsers, standing: ReadonlyMap<string, string>): Promise<number> {
    const { id: merge, from, to } = users;
    const ids = {
      memory: (id: string) => standing.get(id) ?? mergedId("memory", to, merge, id),
      session: (id: string) => mergedId("session", to, merge, id),
    };
    const given = `${GIVEN}${merge}`;
    for (let taken = 0; ; ) {
      const page = await optimisticCommit(this.#engine, ownerPartition(to), { keys: [HEAD, given] }, async (read) => {
        let head = headIn(read.entries.get(HEAD));
        const missing = await this.#behind(from, Number(read.entries.get(given)?.value ?? 0));
        const last = missing.at(-1);
        if (last === undefined) return { commit: null, result: 0 };
        const puts = missing.map((receipt) => {
          const moved = movedReceipt(receipt, mergedId("receipt", to, merge, receipt.id), ids, head);
          head = { number: moved.number, hash: moved.hash, ids: head?.ids ?? [] };
          return { key: keyOf(moved), value: JSON.stringify(moved) };
        });
        const all = [named(to), { key: HEAD, value: JSON.stringify(head) }, { key: given, value: String(last.number) }, ...puts];
        return { commit: { epoch: read.epoch, checks: unchanged(read, HEAD, given), puts: all }, result: missing.length };
      });
      if (page === 0) return taken;
      taken += page;
    }
  }

  /** Takes out of `to`'s what {@link takeOver} added. How many. */
  async takeOut({ id: merge, from, to }: MergedUsers): Promise<number> {
    const added = new Set<string>();
    for await (const { id } of this.#all(from)) added.add(mergedId("receipt", to, merge, id));
    return added.size === 0 ? 0 : this.#emptied(to, ({ id }) => added.has(id));
  }

  async erase(owner: Owner): Promise<Readonly<Record<string, number>>> {
    for (let erased = 0; ; ) {
      const ranges = [ALL, ALL_GIVEN].map((range) => ({ ...range, limit: ERASED_AT_ONCE }));
      const [receipts = [], given = []] = (await this.#engine.read(ownerPartition(owner), { ranges })).ranges;
      if (receipts.length + given.length === 0) return { [this.name]: erased };
      await committed(this.#engine, ownerPartition(owner), { deletes: [HEAD, ...[...receipts, ...given].map(({ key }) => key)] });
      erased += receipts.length;
    }
  }

  async residue(owner: Owner): Promise<number> {
    return (await this.#engine.read(ownerPartition(owner), { ranges: [ALL] })).ranges[0]?.length ?? 0;
  }

  /** The first of an owner's that come after the one of this number, oldest first. */
  async #behind(owner: Owner, number: number): Promise<readonly BookingReceipt[]> {
    const range = { ...ALL, from: behind(keyOf({ number })), limit: PAGE };
    return ((await this.#engine.read(ownerPartition(owner), { ranges: [range] })).ranges[0] ?? []).map(receiptIn);
  }

  /** Oldest first, a page at a time. */
  async *#all(owner: Owner): AsyncGenerator<BookingReceipt, void, undefined> {
    for (let number = 0; ; ) {
      const page = await this.#behind(owner, number);
      yield* page;
      const last = page[PAGE - 1];
      if (last === undefined) return;
      number = last.number;
    }
  }

  async #isGone(owner: Owner): Promise<(memoryId: string) => boolean> {
    const known = await this.#known?.(owner);
    return (id) => known?.has(id) !== true;
  }

  async #emptied(owner: Owner, which: (receipt: BookingReceipt) => boolean): Promise<number> {
    let emptied = 0;
    for (let from = ALL.from; ; ) {
      const { ranges } = await this.#engine.read(ownerPartition(owner), { ranges: [{ ...ALL, from, limit: PAGE }] });
      const entries = ranges[0] ?? [];
      const told = entries.map((entry) => ({ entry, receipt: receiptIn(entry) })).filter(({ receipt }) => receipt.body !== null);
      for (const { entry, receipt } of told.filter((each) => which(each.receipt))) {
        const puts = [{ key: entry.key, value: JSON.stringify({ ...receipt, body: null }) }];
        // Refused where an erasure was faster.
        const { ok } = await committed(this.#engine, ownerPartition(owner), {
          checks: [{ key: entry.key, version: entry.version }],
          puts,
        });
        if (ok) emptied += 1;
      }
      const last = entries[PAGE - 1];
      if (last === undefined) return emptied;
      from = behind(last.key);
    }
  }
}

function telling(isOne: (memoryId: string) => boolean): (receipt: BookingReceipt) => boolean {
  return ({ body }) => body !== null && memoriesIn(body).some(isOne);
}

/** Of what was checked, and of what the domain told beside it; bookings of before are no memories. */
function memoriesIn({ checked, beside }: ReceiptBody): readonly string[] {
  return [...checked.needs.map(({ memory_id }) => memory_id), ...beside.map(({ id }) => id).filter((id) => !isOfBooking(id))];
}

function keyOf({ number }: Pick<BookingReceipt, "number">): string {
  return `${PREFIX}${numberKey(number)}`;
}

function receiptIn({ value }: StoredEntry): BookingReceipt {
  return bookingReceiptSchema.parse(JSON.parse(value));
}

function headIn(entry: StoredEntry | undefined): Head | null {
  return entry === undefined ? null : (JSON.parse(entry.value) as Head);
}
