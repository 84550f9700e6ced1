import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MemoryRouter } from "../../src/long-term/memory-router.js";
import { guarded, toOperations } from "../../src/long-term/promotable.js";
import type { LongTermMemory, Memory } from "../../src/long-term.js";
import { RuleExtractor } from "../../src/offline/rule-extractor.js";
import { ownerOf } from "../../src/owner.js";
import { derivedId } from "../../src/platform/ids.js";
import { openLocalQdrant } from "../../src/vectors/local-qdrant.js";
import type { VectorStore } from "../../src/vectors.js";
import { TestClock } from "../contract/long-term.contract.js";
import { openMem0 } from "../support/mem0.js";
import { openQdrantServer, QDRANT_SERVER } from "../support/qdrant-server.js";
import { YEAR } from "../support/year-story.js";

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

/** One message as the write-back treats it: related memories, extraction, guards, rules, Mem0. */
async function say(memory: LongTermMemory, index: number): Promise<void> {
  const turn = YEAR[index];
  if (turn === undefined) return;
  const input = {
    owner,
    session_id: derivedId("session", `session ${Math.floor(index / 4)}`),
    turn: (index % 4) + 1,
    message_id: derivedId("message", `message ${index}`),
    text: turn.says,
    stated_at: at(turn.day),
    time_zone: "Europe/London",
    context: [],
    related: await memory.related(owner, turn.says, { limit: 10 }),
  };
  const proposals = await guarded(new RuleExtractor()).extract(input, { signal: AbortSignal.timeout(10_000) });
  await memory.apply(owner, toOperations(input, proposals), { now: at(turn.day) });
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
    memory = (await openMem0({ dir, store, clock, options: { router: new MemoryRouter({ collection }) } })).memory;
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

  test("constraints stand whatever is asked, companions by name, and the profile doesn't change with the hour", async () => {
    const recall = (now: Date) => memory.recall(owner, { text: "Something with loud music", now, deadlineMs: 20_000 });
    const { memories, profile } = await recall(at(361));
    expect(textsOf(memories.filter(({ strength }) => strength === "hard"))).toEqual([
      "Is allergic to peanuts",
      "Is allergic to shellfish",
      "Needs step-free access",
      "Son uses a wheelchair",
      "Wife is vegetarian",
    ]);
    expect(profile).toMatch(/^Must hold: .*Is allergic to peanuts.*\nUsually: .*\nCompanions: son; wife$/s);
    expect((await recall(at(390))).profile).toBe(profile);
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
