import { expect, onTestFinished, test } from "vitest";
import { ownerOf } from "../../../src/domain/owner.js";
import { collected } from "../../../src/platform/collected.js";
import type { ModelEvent, ModelRequest } from "../../../src/ports/agent.js";
import type { StateEngine } from "../../../src/state/engine.js";
import { MemoryEngine } from "../../../src/state/engines/memory/memory-engine.js";
import { SLOW } from "../../support/projects.js";
import { type ReadDocument, TaskModel } from "../../support/task-model.js";
import { VectorDouble } from "../../support/vector-double.js";
import { connected, type Replica, type ReplicaOptions, startReplica } from "./replicas.js";

const ADA = ownerOf("default", "ada");
const HOUR_MS = 3_600_000;
/** Beyond all leases. */
const STOPPED_MS = 120_000;

/** What can be held back, and let go on. */
class Gate {
  #open: () => void = () => {};
  #held: Promise<void> | null = null;
  #reached: () => void = () => {};
  /** Somebody stands before it. */
  reached: Promise<void> = Promise.resolve();

  close(): void {
    this.#held = new Promise((resolve) => {
      this.#open = resolve;
    });
    this.reached = new Promise((resolve) => {
      this.#reached = resolve;
    });
  }

  open(): void {
    this.#held = null;
    this.#open();
  }

  async pass(): Promise<void> {
    while (this.#held !== null) {
      this.#reached();
      await this.#held;
    }
  }
}

const SAID = "I prefer jazz concerts, and I always sit by the aisle.";
const QUOTES = ["I prefer jazz concerts", "I always sit by the aisle"];
let readings = 0;

/** Each reading finds something else: what is read twice is seen. */
function readSaid({ MESSAGE }: ReadDocument) {
  if (MESSAGE !== SAID) return { off_record: null, operations: [] };
  const quote = QUOTES[readings++ % QUOTES.length];
  const said = { quote, text: quote, category: "other", strength: "soft", type: "preference", stance: "stated" };
  return { off_record: null, operations: [{ op: "add", ...said }] };
}

/** A replica's own model, which says whose it is, and waits at gates before it answers and before it has read. */
class GatedModel extends TaskModel {
  readonly answers = new Gate();
  readonly reading = new Gate();
  readonly #whose: string;

  constructor(whose: string) {
    super();
    this.#whose = whose;
    this.read = readSaid;
  }

  override async *stream(request: ModelRequest): AsyncGenerator<ModelEvent, void, undefined> {
    if (request.task === "extraction") await this.reading.pass();
    if (request.task !== "chat") return yield* super.stream(request);
    await this.answers.pass();
    yield { type: "text", delta: `${this.#whose} answers.` };
    yield { type: "end", reason: "stop", usage: { input_tokens: 1, output_tokens: 1 } };
  }
}

interface Process {
  readonly replica: Replica;
  readonly model: GatedModel;
  /** Between it and the engine. */
  readonly line: Gate;
}

/** Processes on one engine, whose clock is a test's. */
function world() {
  let laterMs = 0;
  const clock = { now: () => new Date(Date.now() + laterMs) };
  const engine = new MemoryEngine({ clock });
  const vectors = new VectorDouble();
  const start = async (name: string, options: ReplicaOptions = {}): Promise<Process> => {
    const [line, model] = [new Gate(), new GatedModel(name)];
    const over: StateEngine = connected(engine, async (run) => {
      await line.pass();
      return run();
    });
    const replica = await startReplica(over, { model, vectors, clock, ...options });
    onTestFinished(async () => {
      for (const gate of [line, model.answers, model.reading]) gate.open();
      await replica.stop();
    });
    return { replica, model, line };
  };
  const pass = (ms: number) => {
    laterMs += ms;
  };
  return { engine, start, pass };
}

async function linesOf({ application }: Replica, sessionId: string): Promise<readonly string[]> {
  const records = await collected(application.parts.store.journal.read(ADA, sessionId, { includeRewound: true }));
  return records.flatMap((record) => {
    if (record.type !== "message") return [];
    return [`${record.turn} ${record.body.role}: ${record.body.outcome ?? record.body.content}`];
  });
}

test.each(["before it has its answer", "as it writes its answer"])(
  "[turn-order] a process that is stopped for two minutes %s, and goes on, writes nothing: the turn that came meanwhile is whole",
  async (when) => {
    const { start, pass } = world();
    const [one, other] = [await start("One"), await start("Other")];
    const { session_id: sessionId } = await one.replica.application.chat.chat({ owner: ADA, message: "Hello." });
    one.model.answers.close();
    const request = { owner: ADA, sessionId, message: "First?", idempotency: { key: "first", requestHash: "h" } };
    const late = one.replica.application.chat.chat(request).catch((error: unknown) => error);
    await one.model.answers.reached;
    one.line.close();
    if (when === "as it writes its answer") {
      one.model.answers.open();
      await one.line.reached;
    }
    pass(STOPPED_MS);
    const meanwhile = await other.replica.application.chat.chat({ owner: ADA, sessionId, message: "Second?" });
    expect(meanwhile.message.content).toBe("Other answers.");
    const before = await linesOf(other.replica, sessionId);
    one.line.open();
    one.model.answers.open();
    expect(await late).toMatchObject({ code: expect.stringMatching(/^(FENCED|SESSION_CHANGED)$/) });
    expect(await linesOf(other.replica, sessionId)).toEqual(before);
    expect(before).toEqual(["1 user: Hello.", "1 assistant: completed", "2 user: First?", "3 user: Second?", "3 assistant: completed"]);
    // Its guest asks again, wherever that is, and is answered once.
    const again = await other.replica.application.chat.chat(request);
    expect([again.turn, again.message.content]).toEqual([2, "Other answers."]);
    expect((await one.replica.application.chat.chat(request)).message).toEqual(again.message);
    expect(await linesOf(one.replica, sessionId)).toEqual([...before, "2 assistant: completed"]);
  },
);

test("[write-back-once] a process that is stopped for two minutes as it reads what was said: it is remembered once, by another", async () => {
  const { start, pass } = world();
  const [one, other] = [await start("One"), await start("Other")];
  one.model.reading.close();
  other.model.reading.close();
  const { session_id: sessionId } = await one.replica.application.chat.chat({ owner: ADA, message: SAID });
  // Whichever of the two has it is stopped.
  const first = await Promise.race([one, other].map((each) => each.model.reading.reached.then(() => each)));
  const second = first === one ? other : one;
  first.line.close();
  pass(STOPPED_MS);
  second.model.reading.open();
  await second.replica.application.sessions.flush(ADA, sessionId, 10_000);
  const known = async () =>
    (await second.replica.application.memories.list(ADA, {})).data.map(({ text, seen_count }) => [text, seen_count]);
  await expect.poll(known).toHaveLength(1);
  const before = await known();
  first.line.open();
  first.model.reading.open();
  await first.replica.application.parts.worker.drain(20_000);
  expect(await known()).toEqual(before);
  expect(await second.replica.application.parts.store.turns.of(ADA)).toEqual([]);
  const told = await second.replica.application.events.list({ owner: ADA }, { limit: 200 });
  expect(told.data.map(({ type }) => type).sort()).toEqual(["memory.added", "session.created", "turn.completed"]);
});

test("[write-back-once] what is said again differently, to another process than the one that reads it, is not remembered as it was said first", async () => {
  const { start } = world();
  const [one, other] = [await start("One"), await start("Other")];
  one.model.reading.close();
  other.model.reading.close();
  const said = await one.replica.application.chat.chat({ owner: ADA, message: SAID });
  const reader = await Promise.race([one, other].map((each) => each.model.reading.reached.then(() => each)));
  const second = reader === one ? other : one;
  const { data } = await second.replica.application.sessions.messages(ADA, said.session_id, {});
  const editOf = data.find(({ role }) => role === "user")?.id ?? "";
  second.model.reading.open();
  await second.replica.application.chat.chat({
    owner: ADA,
    sessionId: said.session_id,
    message: "What is on tonight, at the opera?",
    editOf,
  });
  const left = async () => (await second.replica.application.parts.store.turns.of(ADA)).map(({ turn }) => turn);
  await expect.poll(left, { timeout: 10_000 }).toEqual([]);
  reader.line.open();
  reader.model.reading.open();
  await reader.replica.application.parts.worker.drain(20_000);
  const known = async () => (await second.replica.application.memories.list(ADA, {})).data.map(({ text }) => text);
  expect(await known()).toEqual([]);
  expect(await reader.replica.application.history.count(ADA, said.session_id)).toBe(2);
});

test("processes whose clocks are an hour apart steal no lock from each other, know each other's keys, and do each job once", {
  tags: [SLOW],
}, async () => {
  const { start } = world();
  const at = (ms: number) => ({ clock: { now: () => new Date(Date.now() + ms) }, variables: { SESSION_LOCK_WAIT_MS: "2000" } });
  const processes = [await start("Level", at(0)), await start("Ahead", at(HOUR_MS)), await start("Behind", at(-HOUR_MS))];
  for (const holder of processes) {
    const others = processes.filter((each) => each !== holder);
    const { session_id: sessionId } = await holder.replica.application.chat.chat({ owner: ADA, message: "Hello." });
    holder.model.answers.close();
    const key = { key: `key ${sessionId}`, requestHash: "h" };
    const request = { owner: ADA, sessionId, message: SAID, idempotency: key };
    const held = holder.replica.application.chat.chat(request);
    await holder.model.answers.reached;
    for (const { replica } of others) {
      const refused = replica.application.chat.chat({ owner: ADA, sessionId, message: "And me?" });
      await expect(refused).rejects.toMatchObject({ code: "SESSION_BUSY" });
    }
    holder.model.answers.open();
    const answer = await held;
    for (const { replica } of others) expect(await replica.application.chat.chat(request)).toEqual(answer);
    // Each clock has it that the turn was long ago, or is yet to come.
    for (const { replica } of processes) await replica.application.sessions.flush(ADA, sessionId, 10_000);
    const records = await collected(holder.replica.application.parts.store.journal.read(ADA, sessionId));
    expect(records.filter(({ type }) => type === "write_back_done").map(({ turn }) => turn)).toEqual([1, 2]);
  }
  const known = (await processes[0]?.replica.application.memories.list(ADA, {}))?.data ?? [];
  expect(known.reduce((sum, { seen_count }) => sum + seen_count, 0)).toBe(processes.length);
});

test("[forgotten-stays-forgotten] what one process keeps is forgotten by another that knew its owner before", async () => {
  const { start } = world();
  const [one, other] = [await start("One"), await start("Other")];
  const now = new Date();
  const keep = (text: string) => one.replica.application.memories.add(ADA, { text, category: "other" }, { now });
  await keep("Likes tea");
  expect((await other.replica.application.memories.list(ADA, {})).data).toHaveLength(1);
  const { id } = await keep("Likes cake");
  await other.replica.application.memories.forget(ADA, id, { now });
  expect((await one.replica.application.memories.list(ADA, {})).data.map(({ text }) => text)).toEqual(["Likes tea"]);
});
