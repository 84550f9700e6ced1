import { join } from "node:path";
import { type Composed, compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { statementSchema } from "../../src/domain/memory.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import type { NewRecord } from "../../src/domain/session.js";
import { newId } from "../../src/platform/ids.js";
import type { SessionStore } from "../../src/ports/session-store.js";
import { atOnce } from "./at-once.js";
import type { EngineServer } from "./servers.js";

/** What is measured of an engine: one operation of one of several clients, each with a session of its own. */
export interface Workload {
  readonly name: string;
  /** Operations of one slice, by how many clients there are at once. */
  readonly operations: (clients: number) => number;
  readonly operation: (client: number) => Promise<void>;
  /** What operations leave to be done, done before anything else is measured. Counted as a rate of its own where it has a name. */
  readonly rest?: { readonly name?: string; readonly done: () => Promise<void> };
}

/** A turn's window. */
const ROUNDS = 10;
const WINDOW_TURNS = 20;
const MEMORIES = 2;
/** As many turns as a worker takes at once, of many that wait. */
const CLAIMED = 4;
/** Of each client. */
const PENDING = 4;
const KINDS = ["jazz", "opera", "folk", "ballet", "theatre"];
const ALONE = { MEM0_ENABLED: "false", HISTORY_BACKEND: "none" };

/** For one client at a time, and for many at once: as many as say something, as a whole turn takes a hundred times as long as a look. */
const OF_TURNS = (clients: number) => (clients === 1 ? 20 : clients * 2);
const OF_THE_STORE = (clients: number) => (clients === 1 ? 100 : clients * 10);

/** All workloads on one engine; `close` closes what they run on, and not the engine. */
export async function openWorkloads(
  engine: EngineServer,
  dir: string,
  clients: number,
): Promise<{ readonly workloads: readonly Workload[]; close(): Promise<void> }> {
  const opened: Composed[] = [];
  const open = async (place: string, variables: Readonly<Record<string, string>>) => {
    const config = parseConfig({
      MEMORY_STORAGE_DIR: join(dir, engine.name, place),
      EMBEDDING_PROVIDER: "hashing",
      RECALL_DEADLINE_MS: "10000",
      ...engine.variables(place),
      ...variables,
    });
    const maitred = await compose(config, { model: atOnce });
    opened.push(maitred);
    return maitred;
  };
  const whole = await open("whole", {});
  const alone = await open("alone", ALONE);
  const { worker, store } = (await open("store", ALONE)).parts;
  // Else it would take what is there to be claimed.
  await worker.stop();
  return {
    workloads: [
      await turns("turn", whole, clients, "ok"),
      await turns("turn, no long-term memory", alone, clients, "disabled"),
      ...(await storeWorkloads(store, clients)),
    ],
    close: async () => {
      for (const maitred of opened) await maitred.close({ drainMs: 0 });
    },
  };
}

/** Turns of one session each, with the write-back beside them; the first of each is over before. */
async function turns(name: string, maitred: Composed, clients: number, status: "ok" | "disabled"): Promise<Workload> {
  const sessions = new Map<number, string>();
  const operation = async (client: number) => {
    const message = `Is there any ${KINDS[client % KINDS.length]} in the old town on the next free day?`;
    const sessionId = sessions.get(client);
    const answer = await maitred.chat.chat({ owner: guest(client), message, ...(sessionId !== undefined && { sessionId }) });
    if (answer.memory.status !== status) throw new Error(`${name}: recall was ${answer.memory.status}`);
    sessions.set(client, answer.session_id);
  };
  const done = async () => {
    if (!(await maitred.parts.worker.drain(120_000))) throw new Error(`${name}: the write-back did not keep up`);
  };
  for (let client = 0; client < clients; client++) {
    if (status === "ok") await remember(maitred, guest(client));
    await operation(client);
  }
  await done();
  return { name, operations: OF_TURNS, operation, rest: { name: `${name}, until written back`, done } };
}

async function remember(maitred: Composed, owner: Owner): Promise<void> {
  for (let n = 0; n < MEMORIES; n++) {
    const text = `Likes ${KINDS[n % KINDS.length]} at venue ${n}`;
    await maitred.memories.add(owner, statementSchema.parse({ text, category: "other", aspect: `venue ${n}` }), { now: new Date() });
  }
}

async function storeWorkloads(store: SessionStore, clients: number): Promise<Workload[]> {
  const owners = Array.from({ length: clients }, (_, client) => ({ owner: guest(client), id: newId() }));
  const read = Array.from({ length: clients }, (_, client) => ({ owner: guest(client), id: newId() }));
  await Promise.all(
    owners.map(async ({ owner, id }, client) => {
      await create(store, owner, id, []);
      await create(store, owner, read[client]?.id ?? "", round(WINDOW_TURNS, false));
      for (let n = 0; n < PENDING; n++) await create(store, owner, newId(), round(1, true));
    }),
  );
  const of = (sessions: typeof owners, client: number) => {
    const session = sessions[client];
    if (session === undefined) throw new Error(`There is no client ${client}.`);
    return session;
  };
  return [
    {
      name: "append, 1 KB",
      operations: OF_THE_STORE,
      operation: async (client) => {
        const { owner, id } = of(owners, client);
        await store.index.apply(owner, id, await store.journal.append(owner, id, [message("system", 1, "x".repeat(800))]));
      },
    },
    {
      name: `window of ${ROUNDS} rounds`,
      operations: OF_THE_STORE,
      operation: async (client) => {
        const { owner, id } = of(read, client);
        const { rounds } = await store.journal.window(owner, id, { rounds: ROUNDS });
        if (rounds.length !== ROUNDS) throw new Error(`The window has ${rounds.length} rounds.`);
      },
    },
    {
      name: `claim of ${CLAIMED} turns`,
      operations: OF_THE_STORE,
      operation: async () => {
        // Free again at once, so that there are always some.
        await store.turns.claim(Date.now() + 1_000, CLAIMED, { leaseMs: 1 });
      },
    },
  ];
}

async function create(store: SessionStore, owner: Owner, id: string, records: readonly NewRecord[]): Promise<void> {
  const session: NewRecord = { type: "session", id: newId(), turn: 0, at: now(), body: { owner } };
  await store.index.apply(owner, id, await store.journal.create(owner, id, [session, ...records]));
}

/** Questions and answers; `pending`: to be written back. */
function round(turns: number, pending: boolean): NewRecord[] {
  return Array.from({ length: turns }, (_, index) => {
    const turn = index + 1;
    const user = message("user", turn, `What is on this weekend, number ${turn}?`);
    const answer = message("assistant", turn, "Three concerts fit; the second one has step-free access. ".repeat(4));
    const done: NewRecord = {
      type: "write_back_done",
      id: newId(),
      turn,
      at: now(),
      body: { status: "skipped", memory_ids: [], attempts: 1 },
    };
    return pending ? [user, answer] : [user, answer, done];
  }).flat();
}

function message(role: "user" | "assistant" | "system", turn: number, content: string): NewRecord {
  return { type: "message", id: newId(), turn, at: now(), body: { role, content } };
}

function guest(client: number): Owner {
  return ownerOf("default", `guest-${client}`);
}

function now(): string {
  return new Date().toISOString();
}
