// Over 300 lines: what a turn does to memories, from its reading to its log.

import type { Memory, MemorySource } from "../domain/memory.js";
import { type MemoryRecord, memoryOf } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import type { Clock } from "../platform/clock.js";
import { collected } from "../platform/collected.js";
import { AppError, isAppError } from "../platform/errors.js";
import type { RememberedTurn, Settlement, TurnMemories, TurnToRemember } from "../ports/memories.js";
import { type MemoryLog, type MemoryLogTurn, NOBODY } from "../ports/memory-log.js";
import type { OnMessageRead } from "../ports/turn-records.js";
import type { CheckedReading } from "./checked-operation.js";
import type { Forgetting } from "./forgetting.js";
import { type LeftToRead, MOST_LEFT } from "./left-to-read.js";
import { waitingOffRecord } from "./off-record.js";
import type { OwnerLogs } from "./owner-logs.js";
import type { OwnerMemories } from "./owner-memories.js";
import { proposalsOf } from "./proposals.js";
import { changesOf, waitingForAnswer } from "./proposed-change.js";
import { type ReconcileRules, reconcile } from "./reconcile.js";
import { between, summed } from "./reconciled.js";
import { takenBack } from "./taken-back.js";
import { TurnReading, type TurnReadingParts } from "./turn-reading.js";
import { asked, settled, toConfirm, waits } from "./waiting.js";

export type { ReadMessage } from "./turn-reading.js";

export interface TurnMemoriesParts extends TurnReadingParts {
  readonly logs: OwnerLogs;
  readonly log: Pick<MemoryLog, "read">;
  readonly forgetting: Forgetting;
  readonly rules: (owner: Owner, now: Date) => Promise<ReconcileRules>;
  /** Keeps what the guest is to be asked about of a message that can't be read. */
  readonly propose: TurnMemories["propose"];
  /** Told what became of what a reading proposed. Default: nobody is told. */
  readonly onRead?: OnMessageRead;
  readonly clock: Clock;
}

/** Who settles what waits: the guest. */
const GUEST = "guest";
/** Stands for the reader of a message that was left and then taken back. */
const GONE = "gone";

/** While what is kept: the owner's epoch is that of when the message was there to be read. */
interface KeptWhile {
  readonly now: Date;
  readonly signal: AbortSignal;
  readonly epoch: number;
}

/** What happens to memories because of a turn. */
export class MemoriesOfTurns implements Omit<TurnMemories, "propose" | "takeOffRecord"> {
  readonly #parts: TurnMemoriesParts;
  readonly #reading: TurnReading;

  constructor(parts: TurnMemoriesParts) {
    this.#parts = parts;
    this.#reading = new TurnReading(parts);
  }

  async remember(...[owner, turn, options]: Parameters<TurnMemories["remember"]>): Promise<RememberedTurn> {
    try {
      return await this.#remember(owner, turn, options);
    } catch (error) {
      if (options.last === true && isAppError(error, "EXTRACTION_FAILED")) this.#reading.over(owner, turn);
      throw error;
    }
  }

  async #remember(...[owner, turn, { now, signal, epoch: given }]: Parameters<TurnMemories["remember"]>): Promise<RememberedTurn> {
    const { logs, left } = this.#parts;
    const epoch = given ?? (await logs.epoch(owner));
    const known = await logs.known(owner);
    if (known.isRead(turn.message_id)) return rememberedTurn(await logs.level(owner, signal), turn.message_id);
    const others = known.left.filter(({ message_id }) => message_id !== turn.message_id);
    if (turn.may_wait === true && left?.together(owner) && others.length < MOST_LEFT)
      return this.#leave(owner, turn, { now, signal, epoch });
    if (!left?.together(owner) || known.left.length === 0) return this.#read(owner, turn, [], { known, now, signal, epoch });
    const claim = await left.claim(owner, signal);
    try {
      return await this.#readWithLeft(owner, turn, { left, now, epoch, signal: AbortSignal.any([signal, claim.signal]) });
    } finally {
      await claim.release();
    }
  }

  /** For one who has the claim. */
  async #readWithLeft(
    owner: Owner,
    turn: TurnToRemember,
    { left, ...options }: { readonly left: LeftToRead } & KeptWhile,
  ): Promise<RememberedTurn> {
    const { logs } = this.#parts;
    for (;;) {
      const known = await logs.known(owner);
      if (known.isRead(turn.message_id)) return rememberedTurn(await logs.level(owner, options.signal), turn.message_id);
      const others = known.left.filter(({ message_id }) => message_id !== turn.message_id);
      const { turns, gone, more } = await left.alongWith(owner, others, options.signal);
      for (const each of gone) await this.#drop(owner, each, options.now);
      const newest = turns.at(-1);
      const isLast = !more || newest === undefined;
      try {
        if (isLast) return await this.#read(owner, turn, turns, { ...options, known });
        await this.#read(owner, newest, turns.slice(0, -1), { ...options, known });
      } catch (error) {
        // What can't be read with others is read by itself.
        if (isLast ? turns.length === 0 || !left.failed(turns, error) : !left.failed([newest], error)) throw error;
      }
    }
  }

  /** Reads a turn, with others along, and keeps what that gave. */
  async #read(
    owner: Owner,
    turn: TurnToRemember,
    along: readonly TurnToRemember[],
    { known, ...options }: { readonly known: OwnerMemories } & KeptWhile,
  ): Promise<RememberedTurn> {
    const { now, signal } = options;
    const base = await this.#withoutReplaced(owner, known, turn, now);
    const readings = await this.#reading.read(owner, turn, along, { records: base, now, signal });
    signal.throwIfAborted();
    for (const [place, each] of along.entries()) {
      const reading = readings[place] ?? null;
      if (reading !== null) await this.#keepAlong(owner, each, reading, options);
    }
    const own = readings[along.length] ?? null;
    if (own === null) throw new AppError("EXTRACTION_FAILED");
    if (own.unread !== undefined) {
      const { asks, error } = own.unread;
      if (asks.length > 0) await this.#parts.propose(owner, turn, asks, { now, signal });
      throw error;
    }
    return rememberedTurn(await this.#keep(owner, turn, own, options), turn.message_id);
  }

  async readLeft(owner: Owner, { now, signal }: { readonly now: Date; readonly signal: AbortSignal }): Promise<void> {
    const { logs, left } = this.#parts;
    if (left === undefined) return;
    const epoch = await logs.epoch(owner);
    let failure: unknown = null;
    for (const turn of (await logs.known(owner)).left.toReversed()) {
      // Read along with one after it.
      if ((await logs.known(owner)).isRead(turn.message_id)) continue;
      const said = await left.said(owner, turn, signal);
      try {
        if (said === null) await this.#drop(owner, turn, now);
        else await this.remember(owner, said, { now, signal, epoch });
      } catch (error) {
        signal.throwIfAborted();
        failure = error;
      }
    }
    if (failure !== null) throw failure;
  }

  /** Notes that a message has yet to be read. */
  async #leave(owner: Owner, turn: TurnToRemember, options: KeptWhile): Promise<RememberedTurn> {
    const { session_id, message_id } = turn;
    const left = { session_id, turn: turn.turn, message_id, reader: NOBODY };
    const { memories } = await this.#parts.logs.change(
      owner,
      (current) => {
        const known = current.planned(message_id) !== undefined;
        return { entry: known ? null : { kind: "turn", turn: left, puts: [], removed: [] }, result: null };
      },
      options,
    );
    return { ...rememberedTurn(memories, message_id), left: !memories.isRead(message_id) };
  }

  /** A message that was left and is not part of a conversation any more. */
  async #drop(owner: Owner, turn: MemoryLogTurn, now: Date): Promise<void> {
    await this.#parts.logs.change(
      owner,
      (current) => {
        const read = current.isRead(turn.message_id);
        return { entry: read ? null : { kind: "turn", turn: { ...turn, reader: GONE }, puts: [], removed: [] }, result: null };
      },
      { now },
    );
  }

  /** Its word about the record first: what a crash cuts off after it is read again, and said again. */
  async #keepAlong(owner: Owner, turn: TurnToRemember, reading: CheckedReading, options: KeptWhile): Promise<void> {
    const { left } = this.#parts;
    if (reading.off_record !== null) await left?.takeOffRecord(owner, turn, reading.off_record, options.signal);
    await this.#keep(owner, turn, reading, options);
  }

  /** Logs what a reading gave, unless that has happened or is nothing, and has the store follow. */
  async #keep(owner: Owner, turn: TurnToRemember, reading: CheckedReading, options: KeptWhile): Promise<OwnerMemories> {
    const { logs, forgetting, left } = this.#parts;
    const { now } = options;
    const rules = await this.#parts.rules(owner, now);
    const { memories, result } = await logs.change(
      owner,
      async (current) => {
        if (current.isRead(turn.message_id)) return { entry: null, result: null };
        const base = await this.#withoutReplaced(owner, current, turn, now);
        const said = changesOf(owner, turn, reading.operations, base);
        const meant = turn.left_to_guest === true ? waitingForAnswer(said) : said;
        const changes = reading.off_record === "this" ? waitingOffRecord(meant) : meant;
        const reconciled = reconcile(base.values(), changes, rules);
        const gone = await forgetting.tombstones(owner, current, reconciled.forgotten, now, [turn.message_id]);
        const difference = between(current.records, base, reconciled, new Set(gone.map(({ id }) => id)));
        const { session_id, message_id } = turn;
        const { off_record, reader } = reading;
        const read = { session_id, turn: turn.turn, message_id, reader, ...(off_record === null ? {} : { off_record }) };
        const dropped = summed(reading.dropped, reconciled.dropped);
        const proposals = proposalsOf(turn, reading, changes, reconciled);
        const isNothing = difference.puts.length + difference.removed.length + Object.keys(dropped).length === 0 && off_record === null;
        // One that was left is told of as read all the same.
        if (isNothing && current.planned(message_id) === undefined) {
          current.foundNothing(read);
          return { entry: null, result: proposals };
        }
        return { entry: { kind: "turn", turn: read, ...difference, dropped }, result: proposals };
      },
      options,
    );
    if (result !== null) this.#parts.onRead?.(owner, turn, result);
    left?.done(turn.message_id);
    this.#reading.over(owner, turn);
    if ((memories.planned(turn.message_id)?.removed.length ?? 0) > 0) forgetting.tell(owner);
    return memories;
  }

  async remembered(...[owner, messageId, options]: Parameters<TurnMemories["remembered"]>): Promise<RememberedTurn | null> {
    const memories = await this.#parts.logs.known(owner, options?.memorySeq);
    return memories.planned(messageId) === undefined ? null : rememberedTurn(memories, messageId);
  }

  async toConfirm(owner: Owner, options: { readonly talk: boolean; readonly signal?: AbortSignal }): Promise<readonly Memory[]> {
    const now = this.#parts.clock.now();
    return toConfirm((await this.#parts.logs.known(owner)).records.values(), now, options).map(memoryOf);
  }

  async asked(owner: Owner, ids: readonly string[], { now }: { readonly now: Date }): Promise<void> {
    await this.#parts.logs.change(
      owner,
      ({ records }) => {
        const puts = ids.flatMap((id) => {
          const record = records.get(id);
          return record !== undefined && waits(record) ? [asked(record, now)] : [];
        });
        return { entry: puts.length === 0 ? null : { kind: "recalled", turn: null, puts, removed: [] }, result: null };
      },
      { now },
    );
  }

  async settle(
    owner: Owner,
    settlements: readonly Settlement[],
    options: {
      readonly asked: readonly string[];
      readonly source: Omit<MemorySource, "quote">;
      readonly text: string;
      readonly now: Date;
    },
  ): Promise<readonly Memory[]> {
    const { now, source } = options;
    const { logs, forgetting } = this.#parts;
    const rules = await this.#parts.rules(owner, now);
    const { memories, result } = await logs.change(
      owner,
      async (current) => {
        const { work, touched, forgotten } = settled(settlements, current.records, rules, options);
        const removed = new Set((await forgetting.tombstones(owner, current, forgotten, now, [source.message_id])).map(({ id }) => id));
        for (const id of removed) work.delete(id);
        const puts = [...work.values()].filter((record) => current.records.get(record.id) !== record);
        const entry = { kind: "settle", turn: { ...source, reader: GUEST }, puts, removed: [...removed] } as const;
        return { entry: puts.length + removed.size === 0 ? null : entry, result: { touched, forgot: removed.size > 0 } };
      },
      { now },
    );
    if (result.forgot) forgetting.tell(owner);
    return [...result.touched].flatMap((id) => memories.records.get(id) ?? []).map(memoryOf);
  }

  /** What is known without what a message gave that this one replaces. */
  async #withoutReplaced(
    owner: Owner,
    memories: OwnerMemories,
    turn: TurnToRemember,
    now: Date,
  ): Promise<ReadonlyMap<string, MemoryRecord>> {
    if (turn.replaces === undefined || turn.replaces.length === 0) return memories.records;
    const entries = (await collected(this.#parts.log.read(owner))).filter(({ seq }) => seq <= memories.seq);
    const { puts, removed } = takenBack(memories.records, entries, new Set(turn.replaces), now);
    const base = new Map([...memories.records, ...puts.map((record) => [record.id, record] as const)]);
    for (const id of removed) base.delete(id);
    return base;
  }
}

function rememberedTurn(memories: OwnerMemories, messageId: string): RememberedTurn {
  const planned = memories.planned(messageId);
  const records = (planned?.puts ?? []).flatMap((id) => memories.records.get(id) ?? []);
  return {
    memories: records.map(memoryOf),
    to_confirm: records.filter(waits).map(memoryOf),
    forgotten: planned?.removed ?? [],
    off_record: planned?.turn.off_record ?? null,
    dropped: planned?.dropped ?? {},
  };
}
