import { createHash } from "node:crypto";
import { inspect } from "node:util";
import { type Composed, compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import { nodeFileSystem } from "../../src/platform/file-system.js";
import { type Logger, silentLogger } from "../../src/platform/logger.js";
import type { ChatAnswer } from "../../src/ports/resources.js";
import type { VectorClient } from "../../src/ports/vectors.js";
import { UnsyncedFileSystem } from "../support/unsynced-file-system.js";
import { FaultPoints } from "./fault-points.js";
import type { ChildEvent, Job, SeenAtEnd, SeenAtStart, SeenMemory, TrackState } from "./job.js";
import { defectOf } from "./planted-bugs.js";
import {
  pointedDisk,
  pointedEngine,
  pointedHistory,
  pointedLongTerm,
  pointedMemoryLog,
  pointedMemoryStore,
  pointedSessions,
  pointedVectors,
} from "./pointed-ports.js";
import { likesText, type Step, stepOf } from "./script.js";
import { domain, scriptedModel, unsteadyReader } from "./scripted-parts.js";

/** The process that is killed: Maitred on a directory, talking as the script says, with fault points in every port. */

/** Bound of a wait for the write-back, in milliseconds. */
const DRAIN_MS = 60_000;

function say(event: ChildEvent): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

const errorsOnly: Logger = {
  ...silentLogger,
  error: (fields, message) => process.stderr.write(`${message} ${inspect(fields)}\n`),
};

interface Opened {
  readonly maitred: Composed;
  /** The vector store itself: what history holds can't be listed through its port. */
  readonly vectors: VectorClient;
}

async function open(job: Job, points: FaultPoints): Promise<Opened> {
  const defect = defectOf(job.bug);
  const disk = job.disk === "forgetting" ? new UnsyncedFileSystem() : nodeFileSystem;
  let vectors: VectorClient | undefined;
  const maitred = await compose(
    parseConfig({
      MEMORY_STORAGE_DIR: job.dir,
      SHORT_TERM_ROUNDS: "2",
      RECALL_DEADLINE_MS: "5000",
      MEMORY_EMBEDDING_DIMENSIONALITY: "32",
      LLM_PROVIDER: "offline",
      EMBEDDING_PROVIDER: "hashing",
    }),
    {
      logger: errorsOnly,
      domain,
      model: scriptedModel(points),
      reader: unsteadyReader(job.seed),
      fileSystem: pointedDisk(points, defect.disk(disk)),
      around: {
        engine: (engine) => pointedEngine(points, engine),
        sessions: (store) => defect.sessions(pointedSessions(points, store)),
        memoryLog: (log) => defect.memoryLog(pointedMemoryLog(points, log)),
        memoryStore: (store) => defect.memoryStore(pointedMemoryStore(points, store)),
        longTerm: (longTerm) => pointedLongTerm(points, longTerm),
        history: (history) => pointedHistory(points, history),
        vectors: (store) => {
          vectors = store.client;
          return pointedVectors(points, store);
        },
      },
    },
  );
  if (vectors === undefined) throw new Error("No vector store was opened.");
  return { maitred, vectors };
}

async function main(job: Job): Promise<void> {
  const points = new FaultPoints(job.armed);
  say({ event: "opening" });
  const started = performance.now();
  const { maitred, vectors } = await open(job, points);
  const ms = performance.now() - started;
  say({ event: "open", ms, seen: await seenAtStart(maitred, job) });
  if (job.rebuild) await maitred.parts.rebuildIndex({});
  if (job.erase !== null) {
    const { verified } = await maitred.privacy.erase(ownerOf("default", job.erase), { by: "user" });
    say({ event: "erased", verified });
  }
  await Promise.all(job.tracks.map((track) => new Track(maitred, points, track).run(job)));
  if (job.finish !== null) say({ event: "finished", seen: await seenAtEnd(maitred, vectors, job) });
  else say({ event: "survived" });
  await maitred.close();
}

/** One user's way through the script. */
class Track {
  readonly #maitred: Composed;
  readonly #points: FaultPoints;
  readonly #user: string;
  readonly #owner: Owner;
  readonly #sessions: Map<number, string>;
  readonly #editable: Map<number, string>;
  #position: number;

  constructor(maitred: Composed, points: FaultPoints, { user, position, sessions, editable }: TrackState) {
    this.#maitred = maitred;
    this.#points = points;
    this.#user = user;
    this.#owner = ownerOf("default", user);
    this.#position = position;
    this.#sessions = new Map(Object.entries(sessions).map(([block, id]) => [Number(block), id]));
    this.#editable = new Map(Object.entries(editable).map(([block, id]) => [Number(block), id]));
  }

  async run({ steps, paced }: Job): Promise<void> {
    for (let left = steps; left > 0; left -= 1) {
      const step = stepOf(this.#user, this.#position);
      if (step.kind === "say") await this.#say(step);
      else if (step.kind === "forget") await this.#forget(this.#session(step.block), step.band);
      else await this.#empty(this.#session(step.block));
      const session = this.#sessions.get(step.block);
      if (paced && session !== undefined) await this.#maitred.sessions.flush(this.#owner, session, DRAIN_MS);
      this.#position += 1;
    }
  }

  async #say(step: Step & { kind: "say" }): Promise<void> {
    const sessionId = this.#sessions.get(step.block);
    const editOf = step.edits ? this.#editable.get(step.block) : undefined;
    const { answer, messageId } = await ask(this.#maitred, this.#owner, step, { sessionId, editOf });
    this.#points.reach("answer:before");
    this.#sessions.set(step.block, answer.session_id);
    this.#editable.set(step.block, messageId);
    say({ event: "answered", user: this.#user, position: this.#position, answer, messageId });
    this.#points.reach("answer:after");
  }

  /** Not before all that was said is remembered: what is forgotten before it was written is another story. */
  async #forget(sessionId: string, band: string): Promise<void> {
    await this.#maitred.sessions.flush(this.#owner, sessionId, DRAIN_MS);
    for await (const memory of this.#maitred.parts.longTerm.all(this.#owner)) {
      if (memory.text !== likesText(band)) continue;
      say({ event: "taking", memoryId: memory.id });
      await this.#maitred.memories.forget(this.#owner, memory.id, { now: new Date() });
    }
    say({ event: "taken", user: this.#user, position: this.#position });
  }

  async #empty(sessionId: string): Promise<void> {
    say({ event: "taking", sessionId });
    await this.#maitred.sessions.flush(this.#owner, sessionId, DRAIN_MS);
    await this.#maitred.sessions.empty(this.#owner, sessionId);
    say({ event: "taken", user: this.#user, position: this.#position });
  }

  #session(block: number): string {
    const id = this.#sessions.get(block);
    if (id === undefined) throw new Error(`Block ${block} of ${this.#user} has no session yet.`);
    return id;
  }
}

async function ask(
  maitred: Composed,
  owner: Owner,
  { key, message }: Step & { kind: "say" },
  where: { readonly sessionId: string | undefined; readonly editOf: string | undefined },
): Promise<{ answer: ChatAnswer; messageId: string }> {
  let messageId = "";
  const answer = await maitred.chat.chat(
    {
      owner,
      message,
      ...(where.sessionId !== undefined && { sessionId: where.sessionId }),
      ...(where.editOf !== undefined && { editOf: where.editOf }),
      idempotency: { key, requestHash: createHash("sha256").update(message).digest("hex") },
    },
    {
      onEvent: (event) => {
        if (event.type === "session") messageId = event.user_message_id;
      },
    },
  );
  return { answer, messageId };
}

async function seenAtStart(maitred: Composed, job: Job): Promise<SeenAtStart> {
  const memories: SeenMemory[] = [];
  for (const { user } of job.tracks) {
    for await (const memory of maitred.parts.longTerm.all(ownerOf("default", user))) {
      const { id, text, status, type, aspect, seen_count: seenCount } = memory;
      memories.push({ user, id, text, status, type, aspect, seenCount });
    }
  }
  const journals: SeenAtStart["journals"][number][] = [];
  for await (const { sessionId, damagedLines, tornBytes } of maitred.parts.store.journal.check())
    journals.push({ sessionId, damagedLines: damagedLines.length, tornBytes });
  return { journals, memories };
}

async function seenAtEnd(maitred: Composed, vectors: VectorClient, job: Job): Promise<SeenAtEnd> {
  if (!(await maitred.parts.worker.drain(DRAIN_MS))) throw new Error("The write-back did not come to its end.");
  while ((await maitred.readiness()).parts.history?.status !== "ok") await new Promise((resolve) => setImmediate(resolve));
  const history: SeenAtEnd["history"][number][] = [];
  const sessions: SeenAtEnd["sessions"][number][] = [];
  for (const { user } of job.tracks) {
    const owner = ownerOf("default", user);
    const filter = { must: [{ key: "user_id", match: { value: owner } }] };
    const { points, next_page_offset: more } = await vectors.scroll("history", { filter, limit: 10_000, with_payload: true });
    if (more != null) throw new Error("More messages than one page holds.");
    for (const { payload } of points) history.push({ sessionId: String(payload?.session_id), messageId: String(payload?.message_id) });
    for await (const { owner: holder, sessionId } of maitred.parts.store.journal.list()) {
      if (holder !== owner) continue;
      const { id, title, message_count: messages } = await maitred.sessions.get(owner, sessionId);
      sessions.push({ user, id, title, messages });
    }
  }
  const replays: SeenAtEnd["replays"][number][] = [];
  for (const { user, position } of job.finish?.replay ?? []) {
    const step = stepOf(user, position);
    if (step.kind !== "say") continue;
    const { answer } = await ask(maitred, ownerOf("default", user), step, { sessionId: undefined, editOf: undefined });
    replays.push({ user, position, answer });
  }
  const receipts: SeenAtEnd["receipts"][number][] = [];
  for (const user of job.finish?.erased ?? []) {
    const given = await maitred.parts.ledger.receipts(ownerOf("default", user));
    receipts.push(...given.map(({ verified }) => ({ user, verified })));
  }
  return {
    ...(await seenAtStart(maitred, job)),
    receipts,
    openErasures: (await maitred.parts.ledger.openErasures()).length,
    history,
    sessions: sessions.sort((a, b) => (a.id < b.id ? -1 : 1)),
    pending: await maitred.parts.store.turns.counts(),
    replays,
  };
}

await main(JSON.parse(process.argv[2] ?? "") as Job);
