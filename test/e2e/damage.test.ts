import { cp, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { maintenanceOf } from "../../src/cli/maintenance-of.js";
import { STATE_FILE } from "../../src/compose/engine.js";
import type { Memory } from "../../src/domain/memory.js";
import type { Message, Session } from "../../src/domain/session.js";
import { AppError } from "../../src/platform/errors.js";
import type { Logger } from "../../src/platform/logger.js";
import type { ChatAnswer, Readiness } from "../../src/ports/resources.js";
import type { StateEngine } from "../../src/state/engine.js";
import { over } from "../crash/pointed-ports.js";
import { openWorld, startWorld, tempDir, type World } from "./world.js";

/** Keeps what is logged at warn and above, as text. */
function listening(): { readonly logger: Logger; readonly heard: () => string } {
  const lines: string[] = [];
  const keep = (fields: unknown, message?: string) => void lines.push(`${JSON.stringify(fields, errors)} ${message ?? ""}`);
  return { logger: { debug: () => {}, info: () => {}, warn: keep, error: keep } as Logger, heard: () => lines.join("\n") };
}

/** What a guest told, beside what the product makes of it: what was booked, the story of the relationship. */
function toldIn(memories: readonly Memory[]): readonly Memory[] {
  return memories.filter(({ source }) => source !== null);
}

function errors(_key: string, value: unknown): unknown {
  return value instanceof Error ? { message: value.message, cause: value.cause } : value;
}

let whole = "";
let session = "";
/** A directory with one guest's session, memories, bookings and visit in it; copied for each test. */
beforeAll(async () => {
  whole = await mkdtemp(join(tmpdir(), "maitred-whole-"));
  const world = await openWorld(whole);
  const ada = world.as("ada");
  session = (await ada.say("I prefer jazz concerts. I need step-free access.")).session_id;
  for (const message of ["Any concerts next week?", "Book two of the first one.", "Yes, please book it."])
    await ada.say(message, { session_id: session });
  await world.stop();
}, 60_000);
afterAll(() => rm(whole, { recursive: true, force: true }));

async function lived(): Promise<string> {
  const dir = await tempDir();
  await cp(whole, dir, { recursive: true });
  return dir;
}

async function damage(path: string, how: (bytes: Buffer) => Buffer): Promise<void> {
  await writeFile(path, how(await readFile(path)));
}

const garbage = (bytes: Buffer) => Buffer.from("no database ".repeat(Math.ceil(bytes.length / 12)));
const half = (bytes: Buffer) => bytes.subarray(0, Math.floor(bytes.length / 2));
/** All pages but the first, which says what the file is. */
const innards = (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 0x5a)]);

/** A few pages in the middle: the file still opens, and what does not lie on them reads. */
const middle = (bytes: Buffer) => {
  const pages = Buffer.from(bytes);
  for (let at = 3 * 4096; at < Math.min(9 * 4096, bytes.length); at++) pages[at] = (at * 7919) >>> 3;
  return pages;
};

/** Files that doctor's look at every page finds damaged. */
async function damagedFor(world: World): Promise<string[]> {
  const found: string[] = [];
  for await (const { path, damaged } of maintenanceOf(world.application.parts).databases()) if (damaged) found.push(basename(path));
  return found;
}

describe("state.db that is damaged", () => {
  test.each([
    ["garbage", garbage],
    ["cut in half", half],
    ["garbage behind its head", innards],
    ["a few pages in its middle", middle],
  ])(
    "%s: the start is refused, names it, says what to do and changes nothing",
    async (_, how) => {
      const dir = await lived();
      await damage(join(dir, STATE_FILE), how);
      const damaged = await readFile(join(dir, STATE_FILE));
      await expect(startWorld(dir)).rejects.toMatchObject({
        code: "STORAGE_DAMAGED",
        message: expect.stringContaining(STATE_FILE),
        hint: expect.stringContaining("restore"),
      });
      expect((await readFile(join(dir, STATE_FILE))).equals(damaged)).toBe(true);
      await cp(join(whole, STATE_FILE), join(dir, STATE_FILE));
      const ada = (await startWorld(dir)).as("ada");
      const answer = await ada.say("What have I booked?", { session_id: session });
      expect(answer.memory.recalled.map(({ category }) => category)).toContain("accessibility");
      expect(answer.message.content).toMatch(/MD-/);
    },
    60_000,
  );

  test("[index-derived] and is moved away: sessions are listed anew from the journals, and go on", async () => {
    const dir = await lived();
    await rename(join(dir, STATE_FILE), join(dir, `${STATE_FILE}.old`));
    const ada = (await startWorld(dir)).as("ada");
    const sessions = await ada.get<{ data: Session[] }>("/v1/sessions");
    expect(sessions.body.data).toMatchObject([{ id: session, message_count: 8 }]);
    expect((await ada.get<{ data: Message[] }>(`/v1/sessions/${session}/messages`)).body.data).toHaveLength(8);
    expect((await ada.say("Any opera in Vienna?", { session_id: session })).session_id).toBe(session);
  }, 60_000);
});

describe("a start with one file damaged goes on with the rest", () => {
  test.each([
    ["garbage", garbage],
    ["cut in half", half],
    ["garbage behind its head", innards],
    ["a few pages in its middle", middle],
  ])(
    "vectors.db, %s: turns are told what the log holds, memory says that it can't be looked at, and nothing is taken for empty",
    async (_, how) => {
      const dir = await lived();
      await damage(join(dir, "vectors.db"), how);
      const { logger, heard } = listening();
      const world = await startWorld(dir, {}, { logger });
      expect(heard()).toContain("vectors.db");
      const ada = world.as("ada");
      const answer = await ada.post<ChatAnswer>("/v1/chat", { message: "Anything good this weekend?", session_id: session });
      expect(answer).toMatchObject({ status: 200, body: { memory: { status: "degraded" } } });
      expect(answer.body.memory.recalled).not.toEqual([]);
      expect(await ada.get("/v1/memories")).toMatchObject({ status: 503, body: { code: "LONG_TERM_MEMORY_UNAVAILABLE" } });
      // The gate before a booking asks, for it can't see what must hold.
      const offered = await ada.post<ChatAnswer>("/v1/chat", { message: "Book two of the first one.", session_id: session });
      expect(JSON.stringify(offered.body.steps)).not.toMatch(/MD-[0-9A-F]{8}/);
      const { status, parts } = (await ada.get<Readiness>("/readyz")).body;
      expect(status).toBe("degraded");
      for (const part of [parts.long_term, parts.history]) {
        expect(part?.status).not.toBe("ok");
        expect(part?.detail).toContain("vectors.db");
      }
      expect(await damagedFor(world)).toEqual(["vectors.db"]);
      // An erasure that can't reach a store is no erasure.
      expect((await ada.delete("/v1/me?confirm=true")).status).toBe(503);
    },
    60_000,
  );

  test("vectors.db that is moved away: history is rebuilt from the journals", async () => {
    const dir = await lived();
    await rename(join(dir, "vectors.db"), join(dir, "vectors.db.old"));
    for (const suffix of ["-wal", "-shm"]) await rm(join(dir, `vectors.db${suffix}`), { force: true });
    const world = await startWorld(dir);
    const ada = world.as("ada");
    await world.application.parts.reindex({ which: "missing" });
    const found = await ada.get<{ data: { content: string }[] }>("/v1/history/search?q=jazz");
    expect(found.body.data[0]?.content).toContain("jazz");
  }, 60_000);
});

test("[degradation-honest] bookings that can't be read: chats and memories go on, and the tools say that bookings are out of reach", async () => {
  let damaged = false;
  const engine = (inner: StateEngine): StateEngine =>
    over(inner, {
      read: async (partition, query, options) => {
        const keys = [...(query.keys ?? []), ...(query.ranges ?? []).map(({ from }) => from)];
        if (damaged && keys.some((key) => /^(record|event|sale)\//.test(key))) throw new AppError("STORAGE_DAMAGED");
        return inner.read(partition, query, options);
      },
    });
  const world = await startWorld(await lived(), {}, { around: { engine } });
  const ada = world.as("ada");
  damaged = true;
  for (const message of ["What have I booked?", "Cancel my booking for the concert, please."]) {
    const { message: answer } = await ada.say(message, { session_id: session });
    expect(answer.content).toMatch(/did not work/);
  }
  // Nothing is sold for want of knowing what is sold already.
  const offered = await ada.say("Any concerts next week?");
  expect(JSON.stringify(offered.steps)).not.toContain("quote_id");
  expect(toldIn((await ada.get<{ data: Memory[] }>("/v1/memories")).body.data)).toHaveLength(2);
}, 60_000);
