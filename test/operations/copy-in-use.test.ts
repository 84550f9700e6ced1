import { afterAll, beforeAll, expect, test } from "vitest";
import { copyInUse, type StateInUse } from "../../src/operations/copy-in-use.js";
import { beginMove } from "../../src/operations/migration-checks.js";
import { committed } from "../../src/state/durable-commit.js";
import type { StateEngine } from "../../src/state/engine.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { numberKey, ownerPartition } from "../../src/state/partition.js";
import { sessionKey } from "../../src/state/sessions/keys.js";
import { ENGINES, type EngineServer, movable } from "../migrate/engines.js";
import { arriving, contentsOf, fill, ownerNumber, RICH, SESSION } from "../migrate/sample-state.js";
import { needing } from "../support/needing.js";

const inUse = (engine: StateInUse["engine"]): StateInUse => ({
  ...movable(new MemoryEngine()),
  name: "source",
  engine,
  journalId: async () => null,
  close: async () => {},
});
const options = { signal: new AbortController().signal, onProgress: () => {} };
const rich = ownerPartition(RICH);
const add = (engine: StateEngine, number: number) =>
  committed(engine, rich, { puts: [{ key: `memory-log/${numberKey(5_000 + number)}`, value: String(number) }] });

/** `before`: is awaited before each look at the source, by its number. */
async function copied(source: StateEngine, before: (look: number) => Promise<unknown> = async () => {}) {
  const copy = new MemoryEngine();
  let looks = 0;
  const open = async () => {
    looks += 1;
    await before(looks);
    return inUse(source);
  };
  await copyInUse(open, movable(copy), options);
  return { contents: await contentsOf(copy), looks };
}

for (const kind of ENGINES)
  needing(...kind.needs)(`a copy of ${kind.name} while it is in use`, () => {
    let server: EngineServer;
    beforeAll(async () => {
      server = await kind.start();
    }, 60_000);
    afterAll(() => server.close());

    test("has all that is there, without locks and claims", async () => {
      const engine = await server.open();
      await fill(engine, { owners: 30 });
      expect(await copied(engine)).toEqual({ contents: arriving(await contentsOf(engine)), looks: 2 });
    }, 60_000);

    test("of a user who is written to at every look is as they were at one moment", async () => {
      const engine = await server.open();
      await fill(engine, { owners: 3 });
      let written = 0;
      const busy: StateInUse["engine"] = {
        partitions: (page) => engine.partitions(page),
        async read(partition, query, more) {
          const read = await engine.read(partition, query, more);
          if (partition === rich) await add(engine, ++written);
          return read;
        },
      };
      const copy = new MemoryEngine();
      await copyInUse(async () => inUse(busy), movable(copy), options);
      const logged = Object.keys((await contentsOf(copy)).get(rich)?.entries ?? {}).filter((key) =>
        key.startsWith("memory-log/00000000500"),
      );
      expect(logged.length).toBeGreaterThan(0);
      expect(logged).toEqual(Array.from(logged, (_, at) => `memory-log/${numberKey(5_001 + at)}`));
      expect((await contentsOf(copy)).size).toBe(arriving(await contentsOf(engine)).size);
    }, 60_000);

    test("[erasure-complete] is without who was erased, and what was purged, until its last look; not without end for what is added", async () => {
      const engine = await server.open();
      await fill(engine, { owners: 3 });
      const erased = ownerPartition(ownerNumber(2));
      const { contents, looks } = await copied(engine, async (look) => {
        await add(engine, look);
        if (look === 2) await engine.erase(erased);
        if (look === 3) await committed(engine, rich, { deletes: [sessionKey(SESSION)] });
      });
      expect(looks).toBe(4);
      expect(contents.get(erased)).toEqual({ epoch: 1, dueAtMs: null, entries: {} });
      expect(contents.get(rich)?.entries).not.toHaveProperty(sessionKey(SESSION));
    }, 60_000);
  });

test("half of a move is not copied", async () => {
  const source = new MemoryEngine();
  await beginMove(movable(new MemoryEngine()), movable(source), new Date());
  await expect(copied(source)).rejects.toMatchObject({ code: "STORAGE_IN_USE", message: expect.stringContaining("half of a move") });
});
