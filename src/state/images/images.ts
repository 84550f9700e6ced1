import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import { isId } from "../../platform/ids.js";
import type { ImageStore } from "../../ports/image-store.js";
import { committed } from "../durable-commit.js";
import { prefixRange, type StateEngine } from "../engine.js";
import { ERASURE_KEY, ownerErased } from "../ledger/ledger-values.js";
import { optimisticCommit, unchanged } from "../optimistic-commit.js";
import { named, numberKey, ownerPartition } from "../partition.js";
import { jsonOf, rowsIn } from "../stored-rows.js";

/** `image/{session}/{id}`: what there is of it; `image-part/{session}/{id}/{place}`: its bytes in base64. */
const HEADS = "image/";
const PARTS = "image-part/";
/** Left for keys and the head of a commit. */
const MARGIN_BYTES = 4_096;
/** Heads of one page. */
const PAGE = 500;
/** How long an image may be there before its message is. */
const YOUNG_MS = 24 * 60 * 60 * 1_000;

interface Head {
  readonly bytes: number;
  readonly parts: number;
  /** Whether all parts are there. */
  readonly whole: boolean;
  /** When it came, by the engine's clock. */
  readonly atMs: number;
}

/** Images in parts of what the engine takes as a value; one that is written half is not there. */
export class EngineImageStore implements ImageStore {
  readonly #engine: StateEngine;
  readonly #partChars: number;
  readonly #partsAtOnce: number;

  constructor(engine: StateEngine) {
    this.#engine = engine;
    const { maxValueBytes, maxCommitBytes } = engine.manifest;
    this.#partChars = Math.min(maxValueBytes, maxCommitBytes - MARGIN_BYTES);
    this.#partsAtOnce = Math.max(1, Math.floor((maxCommitBytes - MARGIN_BYTES) / this.#partChars));
  }

  async put(owner: Owner, sessionId: string, id: string, data: Uint8Array): Promise<void> {
    const key = headKey(sessionId, id);
    const text = Buffer.from(data).toString("base64");
    while (!(await this.#tryPut(owner, key, text, data.length)));
  }

  async get(owner: Owner, sessionId: string, id: string): Promise<Uint8Array | null> {
    const key = headKey(sessionId, id);
    const read = await this.#engine.read(ownerPartition(owner), { keys: [key], ranges: [prefixRange(partsPrefix(key))] });
    const head = read.entries.get(key);
    const [parts = []] = read.ranges;
    if (head === undefined || !jsonOf<Head>(head).whole) return null;
    return new Uint8Array(Buffer.from(parts.map(({ value }) => value).join(""), "base64"));
  }

  async remove(owner: Owner, sessionId: string, id: string): Promise<void> {
    await this.#removeOne(owner, headKey(sessionId, id));
  }

  removeSession(owner: Owner, sessionId: string): Promise<number> {
    return this.#remove(owner, `${HEADS}${checked(sessionId)}/`);
  }

  erase(owner: Owner): Promise<number> {
    return this.#remove(owner, HEADS);
  }

  async residue(owner: Owner): Promise<number> {
    const query = { ranges: [prefixRange(HEADS), { ...prefixRange(PARTS), limit: 1 }] };
    const [heads = [], parts = []] = (await this.#engine.read(ownerPartition(owner), query)).ranges;
    return Math.max(heads.length, parts.length);
  }

  /**
   * Deletes those of an owner whose message never came to a journal. Not the youngest: theirs may be on its way. `hasJournal`: of a session
   * that has no row; by default it has none. Returns how many went.
   */
  async sweep(owner: Owner, hasJournal: (sessionId: string) => Promise<boolean> = async () => false): Promise<number> {
    const partition = ownerPartition(owner);
    const read = await this.#engine.read(partition, { ranges: [prefixRange(HEADS)] });
    const [heads = []] = read.ranges;
    const old = heads.filter((head) => jsonOf<Head>(head).atMs < read.nowMs - YOUNG_MS);
    const sessions = [...new Set(old.map(({ key }) => key.split("/")[1] ?? ""))];
    if (sessions.length === 0) return 0;
    const { entries } = await this.#engine.read(partition, { keys: sessions.map((session) => `session/${session}`) });
    let swept = 0;
    for (const session of sessions)
      if (!entries.has(`session/${session}`) && !(await hasJournal(session))) swept += await this.removeSession(owner, session);
    return swept;
  }

  /** False where what was there has changed meanwhile. @throws OWNER_ERASED */
  async #tryPut(owner: Owner, key: string, text: string, bytes: number): Promise<boolean> {
    const partition = ownerPartition(owner);
    const read = await this.#engine.read(partition, { keys: [key, ERASURE_KEY] });
    if (read.entries.has(ERASURE_KEY)) throw ownerErased();
    const before = read.entries.get(key);
    if (before !== undefined && jsonOf<Head>(before).whole) return true;
    const parts = this.#parts(key, text);
    // One that is to be written over in fewer parts is taken away first, with all it had.
    if (before !== undefined && jsonOf<Head>(before).parts > parts.length) {
      await this.#removeOne(owner, key);
      return false;
    }
    const { epoch } = read;
    let head = before?.version ?? null;
    for (let from = 0; from < Math.max(1, parts.length); from += this.#partsAtOnce) {
      const whole = from + this.#partsAtOnce >= parts.length;
      const value = JSON.stringify({ bytes, parts: parts.length, whole, atMs: read.nowMs } satisfies Head);
      const puts = [...parts.slice(from, from + this.#partsAtOnce), { key, value }, named(owner)];
      const done = await committed(this.#engine, partition, { epoch, checks: [{ key, version: head }], puts });
      if (!done.ok && done.refused === "epoch") throw ownerErased();
      if (!done.ok) return false;
      head = done.version;
    }
    return true;
  }

  #parts(key: string, text: string): readonly { readonly key: string; readonly value: string }[] {
    const parts: { key: string; value: string }[] = [];
    for (let from = 0; from < text.length; from += this.#partChars)
      parts.push({ key: `${partsPrefix(key)}${numberKey(parts.length)}`, value: text.slice(from, from + this.#partChars) });
    return parts;
  }

  async #remove(owner: Owner, prefix: string): Promise<number> {
    let removed = 0;
    for (;;) {
      const heads = await rowsIn(this.#engine, ownerPartition(owner), { ...prefixRange(prefix), limit: PAGE });
      for (const { key } of heads) if (await this.#removeOne(owner, key)) removed += 1;
      if (heads.length < PAGE) return removed;
    }
  }

  /** From the end, where there are more parts than one commit deletes: the head says what is left. */
  async #removeOne(owner: Owner, key: string): Promise<boolean> {
    const most = this.#engine.manifest.maxOperations - 1;
    for (;;) {
      const left = await optimisticCommit(this.#engine, ownerPartition(owner), { keys: [key] }, (read) => {
        const entry = read.entries.get(key);
        if (entry === undefined) return { commit: null, result: null };
        const head = jsonOf<Head>(entry);
        const from = Math.max(0, head.parts - most);
        const deletes = Array.from({ length: head.parts - from }, (_, place) => `${partsPrefix(key)}${numberKey(from + place)}`);
        const checks = unchanged(read, key);
        if (from === 0) return { commit: { checks, deletes: [...deletes, key] }, result: 0 };
        const value = JSON.stringify({ ...head, parts: from, whole: false } satisfies Head);
        return { commit: { checks, deletes, puts: [{ key, value }] }, result: from };
      });
      if (left === null || left === 0) return left === 0;
    }
  }
}

/** @throws INVALID_SESSION_ID */
function checked(sessionId: string): string {
  if (!isId(sessionId)) throw new AppError("INVALID_SESSION_ID");
  return sessionId;
}

/** `id`: a SHA-256 in hex. */
function headKey(sessionId: string, id: string): string {
  return `${HEADS}${checked(sessionId)}/${id}`;
}

function partsPrefix(headKey: string): string {
  return `${PARTS}${headKey.slice(HEADS.length)}/`;
}
