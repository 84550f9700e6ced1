import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { type Composed, compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { DEFAULT_TENANT, type Owner, ownerOf } from "../../src/domain/owner.js";
import { createHttpApp, type HttpApp } from "../../src/http/app.js";
import { systemClock } from "../../src/platform/clock.js";
import { isAppError } from "../../src/platform/errors.js";
import { nodeFileSystem } from "../../src/platform/file-system.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { MemoryLog } from "../../src/ports/memory-log.js";
import type { ChatAnswer } from "../../src/ports/resources.js";
import type { LocalVectorStore } from "../../src/vectors/local/local-qdrant.js";
import { openLocalQdrant } from "../../src/vectors/local/local-qdrant.js";
import { FaultyFileSystem } from "../support/faulty-file-system.js";
import { json } from "../support/http-client.js";
import { type ChatBody, OpenAIStub, type StubAnswer } from "../support/openai-stub.js";
import { openQdrantHttp, type QdrantHttp } from "../support/qdrant-http.js";
import { SlowDisk } from "./slow-disk.js";
import { SqliteFaults } from "./sqlite-faults.js";

/**
 * Deadlines of the product, many times what a turn takes that meets no fault: others' turns and failures that come at once keep well within
 * them on a busy machine, and only what hangs, or is as slow, is late.
 */
export const RECALL_DEADLINE_MS = 2_500;
/** The same where nothing that a recall reads hangs: no row waits for it. */
export const PATIENT_RECALL_MS = 10_000;
export const MODEL_TIMEOUT_MS = 5_000;
/**
 * No turn may take longer. Far over the deadlines, so that a busy machine fails no test, and under what the faults take: what hangs hangs
 * until it is mended, what is slow is as slow as that, and a write to Qdrant is given 10 s.
 */
export const TURN_BOUND_MS = 9_500;

/** What tells a recall's question to the embedder from what a write-back has embedded to be kept. */
export const QUERY_PREFIX = "query: ";

export interface Seen {
  readonly status: number;
  /** Of a problem. */
  readonly code: string | null;
  /** Null for a problem. */
  readonly answer: ChatAnswer | null;
  /** `memory.status`, which the body and the header must agree on. */
  readonly memory: string | null;
  readonly inBound: boolean;
  readonly retryAfter: string | null;
}

/** A user of the process, in one session. Everything that they say, and nothing that another says, holds their word. */
export class Guest {
  readonly owner: Owner;
  readonly #rig: Rig;
  readonly #name: string;
  readonly word: string;
  #sessionId: string | undefined;

  constructor(rig: Rig, name: string, word: string) {
    this.#rig = rig;
    this.#name = name;
    this.word = word;
    this.owner = ownerOf(DEFAULT_TENANT, name);
  }

  /** The next turn starts a new session. */
  startOver(): void {
    this.#sessionId = undefined;
  }

  get hasSession(): boolean {
    return this.#sessionId !== undefined;
  }

  get sessionId(): string {
    if (this.#sessionId === undefined) throw new Error("This guest has said nothing yet.");
    return this.#sessionId;
  }

  /** One turn, through HTTP. */
  async say(message: string, key?: string): Promise<Seen> {
    const from = performance.now();
    const response = await this.#rig.http.request(
      "/v1/chat",
      json(
        "POST",
        { message, ...(this.#sessionId !== undefined && { session_id: this.#sessionId }) },
        { "X-User-Id": this.#name, ...(key !== undefined && { "Idempotency-Key": key }) },
      ),
    );
    const inBound = performance.now() - from < TURN_BOUND_MS;
    const body = (await response.json()) as ChatAnswer & { code?: string };
    const retryAfter = response.headers.get("retry-after");
    if (!response.ok) return { status: response.status, code: body.code ?? null, answer: null, memory: null, inBound, retryAfter };
    this.#sessionId ??= body.session_id;
    const header = response.headers.get("x-memory-status");
    const memory = header === body.memory.status ? header : `${body.memory.status} in the body, ${header} in the header`;
    return { status: response.status, code: null, answer: body, memory, inBound, retryAfter };
  }

  prefer(what: string): Promise<Seen> {
    return this.say(`I prefer ${this.word} ${what}.`);
  }

  ask(): Promise<Seen> {
    return this.say(`Any ${this.word} tonight?`);
  }

  /** As {@link ask}, and leaves nothing to write back. */
  askAside(): Promise<Seen> {
    return this.say(`Don't remember this: any ${this.word} tonight?`);
  }

  /** The session's turns that are not written back yet. */
  pending() {
    return this.#rig.composed.parts.store.turns.of(this.owner, this.sessionId);
  }

  /** Whether all is written back soon; `inTime`: as wall-clock time goes by, so that backoffs end. */
  async flushed(inTime: boolean): Promise<boolean> {
    for (let tries = 0; tries < 20; tries++) {
      // An index that can't follow its journal knows of nothing pending: a flush says so.
      const indexed = await this.#rig.composed.sessions.flush(this.owner, this.sessionId, 500).then(
        () => true,
        (error: unknown) => {
          if (isAppError(error, "STORAGE_UNAVAILABLE")) return false;
          throw error;
        },
      );
      if (indexed && (await this.pending()).length === 0) return true;
      if (inTime) passTime(60_000);
    }
    return false;
  }

  /** Texts of the active memories, in alphabetical order. */
  async memories(): Promise<string[]> {
    const { data } = await this.#rig.composed.memories.list(this.owner, { limit: 200 });
    return data.map(({ text }) => text).sort();
  }

  /** What the user said and got, as the journal has it; a turn without an answer has none. */
  async journal(): Promise<{ said: string[]; answered: number; lines: number }> {
    const text = await readFile(join(this.#rig.dir, `${this.sessionId}.jsonl`), "utf8");
    const records = text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as { type: string; body: { role?: string; content?: string; outcome?: string } });
    const messages = records.filter((record) => record.type === "message").map((record) => record.body);
    return {
      said: messages.flatMap(({ role, content }) => (role === "user" ? [content ?? ""] : [])),
      answered: messages.filter(({ role, outcome }) => role === "assistant" && outcome === "completed").length,
      lines: records.length,
    };
  }
}

/** A server in the place of Qdrant, and how it is made well again. */
export interface OtherVectors {
  readonly variables: Readonly<Record<string, string>>;
  readonly mend: () => unknown;
}

/** The whole product over loopback servers and a disk of the test's: everything real but what is behind the network. */
export class Rig {
  readonly dir: string;
  readonly qdrant: QdrantHttp;
  readonly openai: OpenAIStub;
  readonly composed: Composed;
  readonly memoryLog: MemoryLog;
  readonly http: HttpApp;
  readonly disk: FaultyFileSystem;
  readonly slowDisk: SlowDisk;
  readonly sqlite: SqliteFaults;
  /** In the place of Qdrant. */
  readonly local: LocalVectorStore | null;
  readonly mend: () => unknown;
  readonly ada: Guest;
  readonly bob: Guest;

  private constructor(
    parts: Pick<Rig, "dir" | "qdrant" | "openai" | "composed" | "memoryLog" | "http" | "disk" | "slowDisk" | "sqlite" | "local" | "mend">,
  ) {
    this.dir = parts.dir;
    this.disk = parts.disk;
    this.slowDisk = parts.slowDisk;
    this.sqlite = parts.sqlite;
    this.local = parts.local;
    this.mend = parts.mend;
    this.qdrant = parts.qdrant;
    this.openai = parts.openai;
    this.composed = parts.composed;
    this.memoryLog = parts.memoryLog;
    this.http = parts.http;
    this.ada = new Guest(this, "ada", "jazz");
    this.bob = new Guest(this, "bob", "opera");
  }

  /** `before` is called when the servers listen and nothing has been asked of them. */
  static async open(
    before: (servers: { qdrant: QdrantHttp; openai: OpenAIStub }) => unknown = () => {},
    /** `local`: vectors.db in the place of Qdrant, in this thread, where {@link SqliteFaults} reaches it, and with nothing kept in memory. */
    vectors: "qdrant" | "local" | OtherVectors = "qdrant",
    recallDeadlineMs = RECALL_DEADLINE_MS,
  ): Promise<Rig> {
    const dir = await mkdtemp(join(tmpdir(), "maitred-faults-"));
    const qdrant = await openQdrantHttp();
    const openai = (await OpenAIStub.open({ dimension: 64 })).chatOtherwise(replyTo);
    await before({ qdrant, openai });
    const slowDisk = new SlowDisk(nodeFileSystem);
    const disk = new FaultyFileSystem(slowDisk.fileSystem);
    const config = parseConfig({
      MEMORY_STORAGE_DIR: dir,
      ...(vectors === "qdrant" && { QDRANT_URL: qdrant.url }),
      ...(typeof vectors === "object" && vectors.variables),
      OPENAI_BASE_URL: openai.url,
      OPENAI_API_KEY: "test",
      MEMORY_EMBEDDING_MODEL: "stub",
      MEMORY_EMBEDDING_DIMENSIONALITY: "64",
      EMBEDDING_QUERY_PREFIX: QUERY_PREFIX,
      RECALL_DEADLINE_MS: String(recallDeadlineMs),
      MODEL_TIMEOUT_MS: String(MODEL_TIMEOUT_MS),
    });
    const local = vectors === "local" ? await openLocalQdrant({ path: join(dir, "vectors.db"), thread: false, cacheBytes: 1 }) : null;
    const logs: MemoryLog[] = [];
    const memoryLog = (log: MemoryLog) => {
      logs.push(log);
      return log;
    };
    const around = { memoryLog, ...(local !== null && { vectors: () => local }) };
    const composed = await compose(config, { logger: silentLogger, fileSystem: disk, around });
    const [log] = logs;
    if (log === undefined) throw new Error("There is no log of memories.");
    const http = await createHttpApp({ application: composed, config, logger: silentLogger, clock: systemClock });
    const mend = typeof vectors === "object" ? vectors.mend : () => {};
    return new Rig({ dir, qdrant, openai, composed, memoryLog: log, http, disk, slowDisk, sqlite: new SqliteFaults(), local, mend });
  }

  guest(name: string, word: string): Guest {
    return new Guest(this, name, word);
  }

  /** Ada and Bob have each a memory, nothing is left to do, and all that a turn runs through has run: no deadline pays for a first time. */
  async settle(): Promise<void> {
    for (const guest of [this.ada, this.bob]) {
      const seen = await guest.prefer("evenings");
      if (seen.status !== 200 || !(await guest.flushed(false))) throw new Error("The rig is not well before the fault.");
    }
    const first = this.guest("eve", "waltz");
    await first.prefer("evenings");
    await first.flushed(false);
    if ((await first.askAside()).status !== 200) throw new Error("The rig is not well before the fault.");
  }

  /** Everything is well again, network and disk, and time has gone by, so that breakers and backoffs are over. */
  async heal(): Promise<void> {
    await this.mend();
    this.qdrant.heal();
    this.openai.heal();
    this.disk.heal();
    this.slowDisk.release();
    this.sqlite.heal();
    passTime(10 * 60_000);
  }

  async close(): Promise<void> {
    await this.heal();
    await this.composed.close({ drainMs: 0 });
    await this.local?.close();
    this.sqlite.close();
    await this.openai.close();
    await this.qdrant.close();
    await rm(this.dir, { recursive: true });
  }
}

/** Wall-clock time stands still but for {@link passTime}: no backoff ends and no breaker closes by itself. Timers run as ever. */
export function holdTime(): void {
  vi.useFakeTimers({ toFake: ["Date"] });
}

export function passTime(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

/** The model: notes what a guest prefers when it is asked to extract, names a talk, and answers everything else. */
export function replyTo(body: ChatBody): StubAnswer {
  const last = String(body.messages.at(-1)?.content ?? "");
  if (body.response_format === undefined) return { text: "Heard." };
  const operations = messagesToRead(last).flatMap(({ id, said }) =>
    [...said.matchAll(/I prefer ([^.]+)/g)].map(([quote, what = ""]) => ({
      op: "add",
      message: id,
      quote,
      target: null,
      text: `Prefers ${what}`,
      category: "genre",
      aspect: what,
      type: "preference",
      strength: "soft",
      subject: "self",
      scope: "standing",
      valid_until: null,
      confidence: 1,
      explicit: true,
      entities: [],
    })),
  );
  return { text: JSON.stringify({ operations }) };
}

/** What a model is to read in one call: the message, and those before it that are read along. */
export function messagesToRead(document: string): { readonly id: string; readonly said: string }[] {
  const { EARLIER = [], MESSAGE } = JSON.parse(document) as { EARLIER?: { id: string; MESSAGE: string }[]; MESSAGE: string };
  return [...EARLIER.map(({ id, MESSAGE: said }) => ({ id, said })), { id: "", said: MESSAGE }];
}
