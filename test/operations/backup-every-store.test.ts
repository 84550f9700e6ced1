import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { backupsOf } from "../../src/compose/backups.js";
import { parseConfig } from "../../src/compose/config.js";
import type { ChatAnswer } from "../../src/ports/resources.js";
import { startWorld, tempDir, type World } from "../e2e/world.js";
import { needing } from "../support/needing.js";
import { openPostgresServer } from "../support/postgres-server.js";
import { openRedisServer } from "../support/redis-server.js";

type Variables = Readonly<Record<string, string>>;

interface Server {
  /** Of a store that nobody has used. */
  fresh(): Variables;
  close(): Promise<void>;
}

let names = 0;
const STORES: Readonly<Record<"file" | "postgres" | "redis", () => Promise<Server>>> = {
  file: async () => ({ fresh: () => ({}), close: async () => {} }),
  postgres: async () => {
    const { url, close } = await openPostgresServer();
    const fresh = () => ({ SHORT_TERM_BACKEND: "postgres", DATABASE_URL: url, DATABASE_SCHEMA: `backup_${++names}` });
    return { fresh, close };
  },
  redis: async () => {
    const { url, close } = await openRedisServer();
    return { fresh: () => ({ SHORT_TERM_BACKEND: "redis", REDIS_URL: url, REDIS_PREFIX: `backup_${++names}` }), close };
  },
};
const WAYS = [
  ["file", "file"],
  ["file", "postgres"],
  ["postgres", "postgres"],
  ["postgres", "redis"],
  ["redis", "redis"],
  ["redis", "file"],
] as const;

interface Page<T> {
  readonly data: readonly T[];
}

const options = { signal: new AbortController().signal, onProgress: () => {} };
const backupsAt = (dir: string, variables: Variables) => backupsOf(parseConfig({ MEMORY_STORAGE_DIR: dir, ...variables }));

/** Talks as three guests until `work` has ended. */
async function whileGuestsTalk<T>(world: World, work: () => Promise<T>): Promise<T> {
  let over = false;
  const talk = async (user: string) => {
    let answer: ChatAnswer | undefined;
    for (let turn = 1; !over; turn++)
      answer = await world
        .as(user)
        .say(`Turn ${turn}: is anything on today?`, answer === undefined ? {} : { session_id: answer.session_id });
  };
  const talking = GUESTS.map(talk);
  try {
    return await work();
  } finally {
    over = true;
    await Promise.all(talking);
  }
}
const GUESTS = ["bob", "carol", "dave"];

for (const [from, to] of WAYS)
  needing(...([from, to].filter((each) => each !== "file") as ("postgres" | "redis")[]))(`a backup of ${from}, restored to ${to}`, () => {
    let [source, target] = [{}, {}] as [Server, Server];
    beforeAll(async () => {
      source = await STORES[from]();
      target = from === to ? source : await STORES[to]();
    }, 60_000);
    afterAll(async () => {
      await source.close();
      if (target !== source) await target.close();
    });

    test("[backup-whole] [turn-durable] [write-back-once] that is taken while guests talk has all that was answered before it began", async () => {
      const variables = source.fresh();
      const world = await startWorld(await tempDir(), variables);
      const ada = world.as("ada");
      const { session_id } = await ada.say("I prefer jazz concerts in the evening.");
      await ada.say("What is on this weekend?", { session_id });
      const copy = join(await tempDir(), "copy");
      const report = await whileGuestsTalk(world, () => backupsAt(world.dir, variables).backUp(copy, options));
      expect(report).toMatchObject({ left_behind: { damaged_records: 0, damaged_journals: 0 } });
      const [dir, place] = [await tempDir(), target.fresh()];
      const back = await backupsAt(dir, place).restore(copy, options);
      expect(back).toMatchObject({ at: report.at, differences: [], source: report.holds, target: report.holds });

      const restored = await startWorld(dir, place);
      await restored.application.parts.worker.drain(20_000);
      const thread = `/v1/sessions/${session_id}/thread`;
      expect((await restored.as("ada").get(thread)).text).toBe((await ada.get(thread)).text);
      const { data } = (await restored.as("ada").get<Page<{ id: string; text: string }>>("/v1/memories")).body;
      expect(data).toMatchObject([{ text: expect.stringContaining("jazz") }]);
      expect((await restored.as("ada").get<{ source: object }>(`/v1/memories/${data[0]?.id}/why`)).body.source).toMatchObject({
        message: "I prefer jazz concerts in the evening.",
      });
      for (const user of GUESTS)
        for (const session of (await restored.as(user).get<Page<{ id: string }>>("/v1/sessions")).body.data) {
          const messages = `/v1/sessions/${session.id}/messages?limit=200`;
          const kept = (await restored.as(user).get<Page<{ id: string; content: string }>>(messages)).body.data;
          const said = (await world.as(user).get<Page<{ id: string; content: string }>>(messages)).body.data;
          expect(kept).toEqual(said.slice(0, kept.length));
        }
      const goesOn = await restored.as("ada").say("And tomorrow?", { session_id });
      expect(goesOn).toMatchObject({ session_id, turn: 3 });
      const search = { query: "what is on this weekend" };
      const found = async () =>
        (await restored.as("ada").post<Page<{ content: string }>>("/v1/history/search", search)).body.data.map(({ content }) => content);
      await expect.poll(found, { timeout: 10_000 }).toContain("What is on this weekend?");
    }, 120_000);
  });

test("[backup-whole] a backup of which one byte is another is refused, wherever it is, and nothing is restored", async () => {
  const world = await startWorld(await tempDir());
  await world.as("ada").say("Good evening to you all.");
  const copy = join(await tempDir(), "copy");
  await backupsAt(world.dir, {}).backUp(copy, options);
  const path = join(copy, "backup.db");
  const made = await readFile(path);
  const dir = await tempDir();
  const damaged = { code: "STORAGE_DAMAGED", message: expect.stringContaining("The backup is damaged") };
  for (const [name, places] of [
    ["backup.db", [30, made.length >> 1, made.length - 1]],
    ["backup.json", [`{"v":1,"at":"202`.length]],
  ] as const) {
    const sound = await readFile(join(copy, name));
    for (const at of places) {
      const bytes = Buffer.from(sound);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      await writeFile(join(copy, name), bytes);
      await expect(backupsAt(dir, {}).restore(copy, options)).rejects.toMatchObject(damaged);
    }
    await writeFile(join(copy, name), sound);
  }
  expect(await backupsAt(dir, {}).restore(copy, options)).toMatchObject({ differences: [], target: { users: 1, sessions: 1 } });
  expect(await readFile(path)).toEqual(made);
  expect(await backupsAt(dir, {}).restore(copy, options)).toMatchObject({ moved: 0, differences: [] });
});
