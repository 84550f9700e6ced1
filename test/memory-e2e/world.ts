import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Composed, compose, type Overrides } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import type { Memory } from "../../src/domain/memory.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import type { ChatRequest } from "../../src/ports/application.js";
import type { MemoryQuery } from "../../src/ports/memories.js";
import type { ChatAnswer } from "../../src/ports/resources.js";
import { byWords } from "../support/by-words.js";

const DAY_MS = 86_400_000;

/** A clock that a test sets; it moves a second with each look, so that what comes later is later. */
class MovedClock {
  #now: number;

  constructor(at: string) {
    this.#now = Date.parse(at);
  }

  now(): Date {
    this.#now += 1_000;
    return new Date(this.#now);
  }

  passDays(days: number): void {
    this.#now += days * DAY_MS;
  }
}

/** A Wednesday. */
const NOW = "2026-03-11T10:00:00Z";

/**
 * The whole product in a directory of its own: real Mem0 on the local store, the journal on files, and where a test brings no
 * model the stand-in with its rules. Restarts are real: everything is closed and opened again.
 */
export class World {
  readonly clock = new MovedClock(NOW);
  app: Composed;
  readonly #dir: string;
  readonly #variables: Readonly<Record<string, string>>;
  #overrides: Overrides;
  #guests = 0;

  private constructor(app: Composed, dir: string, variables: Readonly<Record<string, string>>, overrides: Overrides, clock: MovedClock) {
    this.app = app;
    this.clock = clock;
    this.#dir = dir;
    this.#variables = variables;
    this.#overrides = overrides;
  }

  static async open(variables: Readonly<Record<string, string>> = {}, overrides: Overrides = {}): Promise<World> {
    const dir = await mkdtemp(join(tmpdir(), "maitred-memory-"));
    const clock = new MovedClock(NOW);
    const all = byWords({ MEMORY_STORAGE_DIR: dir, RECALL_DEADLINE_MS: "5000", ...variables });
    const given = { clock, ...overrides };
    return new World(await compose(parseConfig(all), given), dir, all, given, clock);
  }

  async restart(variables: Readonly<Record<string, string>> = {}, overrides: Overrides = {}): Promise<void> {
    await this.app.close({ drainMs: 10_000 });
    this.#overrides = { ...this.#overrides, ...overrides };
    this.app = await compose(parseConfig({ ...this.#variables, ...variables }), this.#overrides);
  }

  async close(): Promise<void> {
    await this.app.close({ drainMs: 10_000 });
    await rm(this.#dir, { recursive: true, force: true });
  }

  /** Somebody whom it has never met, unless they are named. */
  guest(name = `guest-${++this.#guests}`): Guest {
    return new Guest(this, ownerOf("default", name));
  }
}

/** Somebody who talks to it, in one session until {@link newSession}. */
export class Guest {
  readonly owner: Owner;
  sessionId: string | undefined;
  readonly #world: World;

  constructor(world: World, owner: Owner) {
    this.#world = world;
    this.owner = owner;
  }

  newSession(): this {
    this.sessionId = undefined;
    return this;
  }

  /** One turn, and its write-back. */
  async says(message: string, more: Partial<ChatRequest> = {}): Promise<ChatAnswer> {
    const answer = await this.asks(message, more);
    await this.flush();
    return answer;
  }

  /** One turn; its write-back comes when it comes. */
  async asks(message: string, more: Partial<ChatRequest> = {}): Promise<ChatAnswer> {
    const { app } = this.#world;
    const session = this.sessionId === undefined ? {} : { sessionId: this.sessionId };
    const answer = await app.chat.chat({ owner: this.owner, message, ...session, ...more });
    this.sessionId = answer.session_id;
    return answer;
  }

  async flush(): Promise<void> {
    const left = await this.#world.app.sessions.flush(this.owner, this.sessionId ?? "", 10_000);
    if (left.pending_turns + left.failed_turns > 0) throw new Error(`write-back is not done: ${JSON.stringify(left)}`);
  }

  async memories(query: MemoryQuery = {}): Promise<readonly Memory[]> {
    return (await this.#world.app.memories.list(this.owner, { limit: 200, ...query })).data;
  }

  /** What holds, in the order of the alphabet. */
  async holds(): Promise<readonly string[]> {
    return (await this.memories({ status: "active" })).map(({ text }) => text).sort();
  }
}
