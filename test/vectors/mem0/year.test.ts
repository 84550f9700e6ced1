import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CONCIERGE_CATEGORIES } from "../../../packages/concierge/src/categories.js";
import type { Memory } from "../../../src/domain/memory.js";
import { ownerOf } from "../../../src/domain/owner.js";
import { readMessage } from "../../../src/memories/read-message.js";
import { derivedId } from "../../../src/platform/ids.js";
import { silentLogger } from "../../../src/platform/logger.js";
import { type MessageReader, proposedOperationSchema } from "../../../src/ports/extraction.js";
import type { LongTermMemory } from "../../../src/ports/memories.js";
import type { VectorStore } from "../../../src/ports/vectors.js";
import { openLocalQdrant } from "../../../src/vectors/local/local-qdrant.js";
import { TestClock } from "../../contract/long-term.contract.js";
import { openMem0 } from "../../support/mem0.js";
import { openQdrantServer, QDRANT_SERVER } from "../../support/qdrant-server.js";
import readings from "../../support/year-readings.json" with { type: "json" };
import { YEAR } from "../../support/year-story.js";

/** What a reader makes of each message of the story, once and for all; `target` is the text of the known memory that it names. */
const READINGS: readonly { readonly says: string; readonly operations: readonly Readonly<Record<string, unknown>>[] }[] = readings;

const reader: MessageReader = {
  name: "recorded",
  read: async ({ text, known }) => {
    const { operations } = READINGS.find(({ says }) => says === text) ?? { operations: [] };
    const idOf = (target: unknown) => known.find((memory) => memory.text === target)?.id ?? "not known";
    return {
      operations: operations.map(({ target, ...said }) =>
        proposedOperationSchema.parse({ ...said, target_id: target === undefined ? null : idOf(target) }),
      ),
      off_record: null,
      unreadable: 0,
    };
  },
};

const owner = ownerOf("default", "guest");
const at = (day: number) => new Date(Date.UTC(2026, 0, day, 12));

/** A thousand calls one after the other take seconds, on a busy machine many. */
const SLOW_MACHINE_MS = 180_000;

const HARD = ["Is allergic to peanuts", "Needs step-free access"];
/** What holds at the end of these days, and nothing else. */
const EXPECTED: Readonly<Record<number, readonly string[]>> = {
  31: ["Loves jazz", "Prefers aisle seats", "Usually books 2 tickets", ...HARD],
  88: [
    "Budget is 60 euros per ticket",
    "Dislikes musicals",
    "Lives in Leeds",
    "Loves jazz",
    "Mother is vegetarian",
    "Prefers box seats",
    "Prefers window seats",
    "Usually books 2 tickets",
    "Wife is vegetarian",
    ...HARD,
  ],
  160: [
    "Budget is 60 euros per ticket",
    "Dislikes musicals",
    "Lives in Bristol",
    "Loves jazz",
    "Loves opera",
    "Prefers matinees",
    "Prefers window seats",
    "Usually books 4 tickets",
    "Wife is vegetarian",
    ...HARD,
  ],
  262: [
    "Budget is 90 euros per ticket",
    "Dislikes musicals",
    "Is allergic to shellfish",
    "Lives in Bristol",
    "Loves jazz",
    "No longer likes opera",
    "Prefers evenings",
    "Prefers window seats",
    "Son uses a wheelchair",
    "Usually books 4 tickets",
    "Wife is vegetarian",
    ...HARD,
  ],
  360: [
    "Budget is 90 euros per ticket",
    "Dislikes musicals",
    "Is allergic to shellfish",
    "Lives in York",
    "Loves folk music",
    "Loves jazz",
    "No longer likes opera",
    "Prefers aisle seats",
    "Prefers evenings",
    "Son uses a wheelchair",
    "Usually books 2 tickets",
    "Wants answers in German",
    "Wife is vegetarian",
    ...HARD,
  ],
};

const textsOf = (memories: readonly { readonly text: string }[]) => memories.map(({ text }) => text).sort();

/** One message as the write-back treats it: what is known, reading, checks, reconcile, log, Mem0. */
async function say(memory: LongTermMemory, index: number): Promise<void> {
  const turn = YEAR[index];
  if (turn === undefined) return;
  const said = {
    session_id: derivedId("session", `session ${Math.floor(index / 4)}`),
    turn: (index % 4) + 1,
    message_id: derivedId("message", `message ${index}`),
    text: turn.says,
    stated_at: at(turn.day),
    time_zone: "Europe/London",
    channel: "api",
    context: [],
  };
  await memory.remember(owner, said, { now: at(turn.day), signal: new AbortController().signal });
}

const STORES: readonly { readonly name: string; readonly open: (dir: string) => Promise<VectorStore>; readonly collection: string }[] = [
  { name: "LocalQdrant", open: (dir) => openLocalQdrant({ path: join(dir, "vectors.db") }), collection: "memory" },
  { name: QDRANT_SERVER, open: () => openQdrantServer(), collection: `maitred_year_${randomUUID().replaceAll("-", "")}` },
];

describe.each(STORES)(`A year in the life of one guest, over $name: ${YEAR.length} turns`, ({ open, collection }) => {
  let dir: string;
  let store: VectorStore;
  let memory: LongTermMemory;
  const seen = new Map<number, readonly Memory[]>();

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "maitred-year-"));
    store = await open(dir);
    const clock = new TestClock();
    const options = { collection };
    const read = readMessage(reader, { categories: CONCIERGE_CATEGORIES, needs: [], logger: silentLogger });
    memory = (await openMem0({ dir, store, clock, options, readMessage: read })).memory;
    for (const [index, { day, forgets }] of YEAR.entries()) {
      clock.turnTo(at(day));
      await say(memory, index);
      if (forgets !== undefined) {
        const [found] = await memory.search(owner, { text: forgets });
        expect(found?.text).toBe(forgets);
        await memory.forget(owner, found?.id ?? "", { now: at(day) });
      }
      seen.set(day, (await memory.list(owner, { limit: 200 })).data);
    }
  }, SLOW_MACHINE_MS);
  afterAll(async () => {
    await memory.close();
    await store.client.deleteCollection(collection);
    await store.close();
    await rm(dir, { recursive: true });
  });

  test.each(Object.entries(EXPECTED))("what holds on day %s", (day, expected) => {
    expect(textsOf(seen.get(Number(day)) ?? [])).toEqual([...expected].sort());
  });

  test("the year has at least 40 turns and ends with at most 100 active memories", () => {
    expect(YEAR.length).toBeGreaterThanOrEqual(40);
    expect(seen.get(360)?.length).toBeLessThanOrEqual(100);
  });

  test("the past can be asked for: what held in spring is read with as_of", async () => {
    const { data } = await memory.list(owner, { as_of: at(160).toISOString(), limit: 200 });
    // What was forgotten is gone from the past too, with the home that it replaced.
    const expected = EXPECTED[160]?.filter((text) => text !== "Lives in Bristol") ?? [];
    expect(textsOf(data)).toEqual([...expected].sort());
  });

  test("constraints stand whatever is asked, and with each whose it is", async () => {
    const recall = (now: Date) => memory.recall(owner, { text: "Something with loud music", now, deadlineMs: 20_000 });
    const { memories } = await recall(at(361));
    const hard = memories.filter(({ strength }) => strength === "hard");
    expect(textsOf(hard)).toEqual([
      "Is allergic to peanuts",
      "Is allergic to shellfish",
      "Needs step-free access",
      "Son uses a wheelchair",
      "Wife is vegetarian",
    ]);
    expect(new Set(hard.map(({ subject }) => subject))).toEqual(new Set(["self", "companion:son", "companion:wife"]));
  });

  test(
    "said all over again, the whole year changes nothing that holds",
    async () => {
      for (const index of YEAR.keys()) await say(memory, index);
      expect(textsOf((await memory.list(owner, { limit: 200 })).data)).toEqual([...(EXPECTED[360] ?? [])].sort());
    },
    SLOW_MACHINE_MS,
  );
});
