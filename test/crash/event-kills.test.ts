import { spawn } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { ToldEvent } from "../../src/ports/events.js";
import { ENGINES } from "../replicas/engines.js";
import { bundle } from "../support/bundle.js";
import { type Need, needing } from "../support/needing.js";
import { openQdrantHttp } from "../support/qdrant-http.js";
import { openWebhookReceiver, WEBHOOK_SECRET } from "../support/webhook-receiver.js";
import type { Done, EventChildSays, EventJob } from "./event-child.js";

/** Kills at random moments; `KILLS=100` for more. */
const KILLS = Number(process.env.KILLS ?? 10);
/** Of whom each child has two: a lock that a killed one left has ended when theirs come again. */
const USERS = ["ann", "bob", "cat", "dan", "eve", "fay"];
const AT_ONCE = 2;
const CHILD = fileURLToPath(new URL("./event-child.ts", import.meta.url));
/** What a child does at most before it is killed. */
const MAX_DONE = 12;
/** The kill comes so long after the last thing was done, at most, in milliseconds. */
const MAX_MS = 30;

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-event-kills-"));
  await bundle([CHILD], join(dir, "program"));
  // Clients that are loaded by their names are in no bundle.
  await symlink(fileURLToPath(new URL("../../node_modules", import.meta.url)), join(dir, "node_modules"));
}, 120_000);
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Runs a child to its end. `killAfter`: so many things done, null: it ends by itself. */
async function run(
  job: EventJob,
  killAfter: number | null,
): Promise<{ readonly done: readonly Done[]; readonly listed: readonly ToldEvent[] }> {
  const child = spawn(process.execPath, [join(dir, "program", "event-child.js"), JSON.stringify(job)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<NodeJS.Signals | number | null>((resolve) => child.once("close", (code, signal) => resolve(signal ?? code)));
  let complaints = "";
  child.stderr.on("data", (chunk) => {
    complaints += String(chunk);
  });
  const done: Done[] = [];
  let listed: readonly ToldEvent[] = [];
  for await (const line of createInterface(child.stdout)) {
    const said = JSON.parse(line) as EventChildSays;
    if ("listed" in said) listed = said.listed;
    else done.push(said.done);
    if (done.length === killAfter) setTimeout(() => child.kill("SIGKILL"), Math.random() * MAX_MS);
  }
  const end = await ended;
  if (end !== (killAfter === null ? 0 : "SIGKILL")) throw new Error(`The child ended with ${end}: ${complaints}`);
  return { done, listed };
}

function subjectOf({ data }: ToldEvent): string {
  return data.memory_id ?? data.message_id ?? data.session_id ?? "";
}

/** What the children are on, which outlives them. */
interface Surviving {
  readonly variables: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** An engine, with memories beside it that processes share. */
async function withQdrant({ name, open }: (typeof ENGINES)[number]): Promise<Surviving> {
  const [server, qdrant] = [await open(), await openQdrantHttp()];
  return {
    variables: { ...server.variables, QDRANT_URL: qdrant.url, MEMORY_STORAGE_DIR: join(dir, name) },
    close: async () => {
      await qdrant.close();
      await server.close();
    },
  };
}

const STORES: readonly { readonly name: string; readonly needs: readonly Need[]; readonly kills: number; open(): Promise<Surviving> }[] = [
  {
    name: "files",
    needs: [],
    kills: KILLS,
    open: async (): Promise<Surviving> => ({ variables: { MEMORY_STORAGE_DIR: join(dir, "storage") }, close: async () => {} }),
  },
  // On an emulator each kill takes half a minute: with `KILLS` alone, and a tenth of them.
  ...ENGINES.filter(({ isSlow }) => !isSlow || process.env.KILLS !== undefined).map((engine) => ({
    name: engine.name,
    needs: [engine.program],
    kills: engine.isSlow ? Math.ceil(KILLS / 10) : KILLS,
    open: () => withQdrant(engine),
  })),
];

describe.each(STORES)("a process that tells of what it does", ({ name, needs, kills, open }) => {
  needing(...needs)(`on ${name}`, () => {
    test(`[events-told] killed ${kills} times: all that was answered is told, in order for each user, and what is repeated has its id`, {
      timeout: kills * 60_000,
    }, async () => {
      const receiver = await openWebhookReceiver((_event, response) => void response.writeHead(Math.random() < 0.1 ? 500 : 204).end());
      const surviving = await open();
      onTestFinished(() => surviving.close());
      const job = { variables: surviving.variables, url: receiver.url, secret: WEBHOOK_SECRET, users: USERS, finish: false };
      const done: Done[] = [];
      for (let kill = 0; kill < kills; kill += 1) {
        const from = (kill * AT_ONCE) % USERS.length;
        const users = USERS.slice(from, from + AT_ONCE);
        done.push(...(await run({ ...job, users }, 1 + Math.floor(Math.random() * MAX_DONE))).done);
      }
      const { listed } = await run({ ...job, finish: true }, null);

      const told = new Map(listed.map((event) => [`${event.user} ${event.type} ${subjectOf(event)}`, event]));
      expect(told.size, "each thing once").toBe(listed.length);
      expect(
        done.filter(({ user, type, subject }) => !told.has(`${user} ${type} ${subject}`)),
        "done and not told",
      ).toEqual([]);
      const places = new Map(listed.map(({ id }, place) => [id, place]));
      for (const user of USERS) {
        const ofUser = done
          .filter((each) => each.user === user)
          .map(({ type, subject }) => told.get(`${user} ${type} ${subject}`)?.id ?? "");
        const order = ofUser.map((id) => places.get(id) ?? -1);
        expect(order, "told in the order in which it was done").toEqual([...order].sort((a, b) => a - b));
        const brought = [...new Set(receiver.received.filter(({ event }) => event.user === user).map(({ event }) => event.id))];
        expect(brought, "brought in the order in which it is told").toEqual(
          listed.filter((event) => event.user === user).map(({ id }) => id),
        );
      }
      expect(done.length).toBeGreaterThan(kills);
    });
  });
});
