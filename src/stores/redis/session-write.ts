import type { Owner } from "../../domain/owner.js";
import type { JournalRecord } from "../../domain/session.js";
import { sessionEvents } from "../../domain/session-events.js";
import { AppError, isAppError } from "../../platform/errors.js";
import { newId } from "../../platform/ids.js";
import type { ContentCodec } from "../../ports/content-codec.js";
import { sessionLockKey } from "../../ports/session-store.js";
import type { JournalEnd } from "../../ports/transfer.js";
import { NOTHING, rewindsIn, type SessionAppend, type SessionEngine } from "../journal/atomic-session-write.js";
import { inBatches } from "../journal/in-batches.js";
import { type Kept, keptFor, openedJson } from "../journal/kept-content.js";
import { leaseKey } from "../journal/leased-lock.js";
import { highestTurn } from "../journal/new-records.js";
import type { SessionChanges } from "../sqlite-index/session-changes.js";
import type { Standing } from "../sqlite-index/session-fold.js";
import type { RedisDatabase } from "./database.js";
import type { Hints } from "./hints.js";
import { indexPart } from "./index-commands.js";
import { addRecord, isCounted } from "./records.js";
import { NOTHING_TOLD, type WriteTeller } from "./redis-event-log.js";
import { type RedisHead, rewindsJson } from "./session-heads.js";
import type { SessionOwners } from "./session-owners.js";
import { type Command, WRITE, type WritePlan } from "./write-script.js";

/** Every session write needs its owner to be found. */
const FOUND = ["owners", 0] as const;

export interface SessionEngineParts {
  readonly database: RedisDatabase;
  readonly hints: Hints;
  readonly owners: SessionOwners;
  /** 0: sessions live until they are removed. */
  readonly ttlMs: number;
  readonly codec: ContentCodec | null;
  /** Told what is written. Null: nobody is told. */
  readonly events: WriteTeller | null;
}

/** Sessions are written by one script each. */
export class RedisSessionEngine implements SessionEngine<RedisHead> {
  readonly #parts: SessionEngineParts;

  constructor(parts: SessionEngineParts) {
    this.#parts = parts;
  }

  async create(
    owner: Owner,
    sessionId: string,
    records: readonly JournalRecord[],
    changes: SessionChanges | null,
    epoch?: number,
  ): Promise<RedisHead> {
    await this.#parts.owners.reserve(owner, sessionId);
    const head: RedisHead = { owner, incarnation: newId(), lastSeq: 0, lastTurn: 0, rewinds: [], state: null };
    const after = { ...head, lastSeq: records.length, lastTurn: highestTurn(records) };
    const commands = journalCommands(sessionId, after, records, null, await keptFor(this.#parts.codec, owner));
    const write = { kind: "create", epoch: epoch ?? -1, changes, commands, tells: records } as const;
    try {
      const outcome = await this.#send(head, sessionId, write);
      if (outcome === "changed") throw new AppError("SESSION_CHANGED");
      if (outcome === "erased") throw new AppError("OWNER_ERASED", { retryAfterSeconds: 5 });
    } catch (error) {
      // Of one that is there, or may be, the id stays its owner's.
      if (!isAppError(error, "SESSION_CHANGED") && !isAppError(error, "STORAGE_UNAVAILABLE"))
        await this.#parts.owners.release(owner, sessionId);
      throw error;
    }
    return after;
  }

  async append(head: RedisHead, sessionId: string, { records, changes, fence, endsLock }: SessionAppend): Promise<RedisHead | null> {
    const after = {
      ...head,
      lastSeq: head.lastSeq + records.length,
      lastTurn: Math.max(head.lastTurn, highestTurn(records)),
      rewinds: [...head.rewinds, ...rewindsIn(records)],
    };
    const commands = journalCommands(sessionId, after, records, fence, await keptFor(this.#parts.codec, head.owner));
    const write = { kind: "append", changes, commands, endsLock, tells: records, ...(fence !== null && { fence }) } as const;
    const outcome = await this.#send(head, sessionId, write);
    return outcome === "moved" ? null : after;
  }

  async fold(head: RedisHead, sessionId: string, changes: SessionChanges): Promise<boolean> {
    const lastSeq = head.state?.indexedSeq ?? 0;
    return (await this.#send({ ...head, lastSeq }, sessionId, { kind: "fold", changes, commands: [] })) === "written";
  }

  async restore(owner: Owner, sessionId: string, records: () => AsyncIterable<JournalRecord>, end: JournalEnd): Promise<void> {
    await this.#parts.owners.reserve(owner, sessionId);
    const content = await keptFor(this.#parts.codec, owner);
    let head: RedisHead = { owner, incarnation: newId(), lastSeq: 0, lastTurn: 0, rewinds: [], state: null };
    const send = async (kind: "create" | "append", after: RedisHead, batch: readonly JournalRecord[]) => {
      const commands = journalCommands(sessionId, after, batch, null, content);
      const outcome = await this.#send(head, sessionId, { kind, changes: null, commands });
      if (outcome !== "written") throw new AppError("SESSION_CHANGED");
      head = after;
    };
    for await (const batch of inBatches(records())) {
      const lastSeq = batch.at(-1)?.seq ?? head.lastSeq;
      const lastTurn = Math.max(head.lastTurn, highestTurn(batch));
      const rewinds = [...head.rewinds, ...rewindsIn(batch)];
      await send(head.lastSeq === 0 ? "create" : "append", { ...head, lastSeq, lastTurn, rewinds }, batch);
    }
    await send("append", { ...head, ...end }, []);
  }

  async standingAt(owner: Owner, sessionId: string, seq: number): Promise<Standing> {
    const { database, codec } = this.#parts;
    const { standings, texts } = database.keys(owner, sessionId);
    const found = (await database.command("ZREVRANGEBYSCORE", standings, seq, "-inf", "LIMIT", 0, 1)) as readonly string[];
    if (found[0] === undefined) return NOTHING;
    const [, messageCount, openedBy, key] = JSON.parse(found[0]) as readonly [number, number, number | null, string | null];
    const summary = key === null ? null : ((await database.command("HGET", texts, key)) as string | null);
    return {
      messageCount,
      openedBy,
      summary: summary === null ? null : (openedJson(summary, await keptFor(codec, owner)) as NonNullable<Standing["summary"]>),
    };
  }

  /** @throws SESSION_NOT_FOUND, FENCED, IDEMPOTENCY_IN_PROGRESS */
  async #send(
    head: RedisHead,
    sessionId: string,
    write: Pick<WritePlan, "kind" | "commands"> &
      Partial<WritePlan> & { readonly changes: SessionChanges | null; readonly tells?: readonly JournalRecord[] },
  ): Promise<string | undefined> {
    const { database, hints, ttlMs, codec, events } = this.#parts;
    const { changes, commands, tells = [], ...given } = write;
    const { owner, incarnation, lastSeq, state } = head;
    const index = indexPart(sessionId, state, changes, await keptFor(codec, owner));
    const told = events?.told(owner, sessionEvents(owner, sessionId, tells)) ?? NOTHING_TOLD;
    const needs = [FOUND, ...index.needs, ...told.needs];
    const plan: Omit<WritePlan, "offer"> = {
      owner,
      sessionId,
      incarnation,
      lastSeq,
      indexes: changes !== null,
      fence: -1,
      leaseKey: leaseKey(sessionLockKey(owner, sessionId)),
      endsLock: false,
      epoch: -1,
      ttlMs,
      ...given,
      ...index,
      needs,
      commands: [...commands, ...index.commands],
      told: told.rows,
    };
    const keys = database.keys(owner, sessionId);
    const [outcome] = await hints.having(owner, needs, (offer) => database.run(WRITE, keys, JSON.stringify({ ...plan, offer })));
    switch (outcome) {
      case "gone":
        throw new AppError("SESSION_NOT_FOUND");
      case "fenced":
        throw new AppError("FENCED");
      case "taken":
        throw new AppError("IDEMPOTENCY_IN_PROGRESS", { retryAfterSeconds: 1 });
    }
    if (outcome === "written") events?.written(owner, told);
    return outcome;
  }
}

/** The journal's part of a write: its records, and its head as it is after them. */
function journalCommands(
  sessionId: string,
  after: RedisHead,
  added: readonly JournalRecord[],
  fence: number | null,
  content: Kept,
): readonly Command[] {
  const { incarnation, lastSeq, lastTurn, rewinds } = after;
  const standing = ["last_seq", String(lastSeq), "last_turn", String(lastTurn), "rewinds", rewindsJson(rewinds)] as const;
  return [
    ["HSET", "head", "incarnation", incarnation, ...standing],
    ...(fence === null ? [] : [["HSET", "head", "fence", String(fence)] as const]),
    ["HINCRBY", "head", "messages", added.filter(isCounted).length],
    ["HSET", "journals", sessionId, String(lastSeq)],
    ...added.flatMap((record) => addRecord(record, content)),
  ];
}
