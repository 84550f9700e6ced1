import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ModelEvent, ModelRequest } from "../../../src/ports/agent.js";
import type { Answer } from "../../e2e/world.js";
import { ChatScript } from "../../support/chat-script.js";
import { needing } from "../../support/needing.js";
import { type EngineHome, EVERY_ENGINE } from "../engines/every-engine.js";
import { type Replica, startReplicas } from "./replicas.js";

const REPLICAS = 8;

/** Counts its turns, and answers when it is let. */
class CountingModel extends ChatScript {
  turns = 0;
  gate: () => Promise<void> = async () => {};

  constructor() {
    super([]);
  }

  override async *stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncGenerator<ModelEvent, void, undefined> {
    if (request.task !== "chat") return yield* super.stream(request, options);
    this.turns += 1;
    const answer = `Answer ${this.turns}.`;
    await this.gate();
    yield { type: "text", delta: answer };
    yield { type: "end", reason: "stop", usage: { input_tokens: 1, output_tokens: 1 } };
  }
}

interface World {
  readonly replicas: readonly Replica[];
  readonly user: string;
}

/** How a door is asked, and what that makes. */
interface Door {
  readonly path: string;
  readonly body: unknown;
  readonly status: number;
  /** Calls of the model. */
  readonly turns: number;
  readonly makes: number;
  /** Writes that others may come in between. */
  readonly writes: number;
  made(world: World): Promise<number>;
}

const turn = (body: object): Door => ({ path: "/v1/chat", body, status: 200, turns: 1, makes: 2, writes: 1, made: messages });
const session = (path: string, body: object): Door => ({ path, body, status: 201, turns: 0, makes: 1, writes: 1, made: sessions });
const added = (path: string, makes: number, body: object): Door => ({
  path,
  body,
  status: 201,
  turns: 0,
  makes,
  writes: makes,
  made: memories,
});

const DOORS: Readonly<Record<string, (world: World) => Promise<Door>>> = {
  "a turn in a new session": async () => turn({ message: "Good evening." }),
  "a turn in a session that is named, and new": async () => turn({ message: "Good evening.", external_id: "trip" }),
  "a turn in a session that there is": async (world) => turn({ message: "Good evening.", session_id: (await begun(world)).session_id }),
  "messages of another agent's": async (world) => {
    const path = `/v1/sessions/${(await begun(world)).session_id}/messages`;
    const body = { messages: [{ role: "user", content: "Row F, please." }] };
    return { path, body, status: 202, turns: 0, makes: 1, writes: 1, made: messages };
  },
  "a session": async () => session("/v1/sessions", { title: "Anniversary" }),
  "a session that is named": async () => session("/v1/sessions", { external_id: "trip" }),
  "a fork": async (world) => {
    const { session_id, message } = await begun(world);
    return session(`/v1/sessions/${session_id}/fork`, { message_id: message.id });
  },
  "a memory": async () => added("/v1/memories", 1, { text: "Likes the aisle", category: "seating" }),
  "several memories": async () => added("/v1/memories/batch", 2, { memories: [{ text: "Likes the aisle" }, { text: "Likes tea" }] }),
};

for (const { name, program, home } of EVERY_ENGINE) {
  if (name === "SQLite") continue;
  needing(...(program === null ? [] : [program]))(`one key at ${REPLICAS} replicas on ${name}`, () => {
    const model = new CountingModel();
    let engines: EngineHome;
    let started: Awaited<ReturnType<typeof startReplicas>>;
    beforeAll(async () => {
      engines = await home();
      started = await startReplicas(engines, REPLICAS, { model });
    }, 60_000);
    afterAll(async () => {
      await started.stop();
      await engines.close();
    }, 60_000);

    test.each(Object.entries(DOORS))(
      "[turn-once-anywhere] %s: one is made, the model is asked once, and all are answered the same",
      async (of, open) => {
        const user = of.replaceAll(/[^a-z]/g, "-");
        const world = { replicas: started.replicas, user };
        const { path, body, made, ...door } = await open(world);
        const before = await made(world);
        const turns = model.turns;
        model.gate = allAsked(world.replicas);
        const asked = { user, body, key: "k 1" };
        const answers = await Promise.all(world.replicas.map(({ ask }) => ask("POST", path, asked)));
        model.gate = async () => {};
        const [one] = answers;
        expect(one?.status, one?.text).toBe(door.status);
        expect(new Set(answers.map(told)).size).toBe(1);
        const fresh = answers.filter(({ headers }) => headers.get("Idempotency-Replayed") === null).length;
        expect([fresh > 0, fresh <= door.writes]).toEqual([true, true]);
        expect(model.turns - turns).toBe(door.turns);
        expect((await made(world)) - before).toBe(door.makes);
        const late = await first(world).ask("POST", path, asked);
        expect([told(late), late.headers.get("Idempotency-Replayed")]).toEqual([told(one as Answer<unknown>), "true"]);
        expect((await made(world)) - before).toBe(door.makes);
        expect(model.turns - turns).toBe(door.turns);
      },
    );
  });
}

const first = ({ replicas }: World) => replicas[0] as Replica;
const told = ({ status, text }: Answer<unknown>) => `${status} ${text}`;

/** Each of them has looked at the store since now, more than once. */
function allAsked(replicas: readonly Replica[]): () => Promise<void> {
  const before = replicas.map(({ asked }) => asked());
  return async () => {
    while (!replicas.every(({ asked }, at) => asked() > (before[at] ?? 0) + 3)) await pause(5);
  };
}

async function begun(world: World): Promise<{ readonly session_id: string; readonly message: { readonly id: string } }> {
  const asked = { user: world.user, body: { message: "Hello." } };
  return (await first(world).ask<{ session_id: string; message: { id: string } }>("POST", "/v1/chat", asked)).body;
}

async function list<T>(world: World, path: string): Promise<readonly T[]> {
  return (await first(world).ask<{ data: T[] }>("GET", path, { user: world.user })).body.data;
}

async function sessions(world: World): Promise<number> {
  return (await list(world, "/v1/sessions")).length;
}

async function memories(world: World): Promise<number> {
  return (await list(world, "/v1/memories")).length;
}

async function messages(world: World): Promise<number> {
  const all = await list<{ id: string }>(world, "/v1/sessions");
  const counts = await Promise.all(all.map(async ({ id }) => (await list(world, `/v1/sessions/${id}/messages?limit=200`)).length));
  return counts.reduce((sum, count) => sum + count, 0);
}
