import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ownerOf } from "../../../src/domain/owner.js";
import { silentLogger } from "../../../src/platform/logger.js";
import { PostgresEngine } from "../../../src/state/engines/postgres/postgres-engine.js";
import { named, ownerPartition } from "../../../src/state/partition.js";
import { stateEngineContract } from "../../../src/testing/state-engine-contract.js";
import { needing } from "../../support/needing.js";
import { openPostgresServer, type PostgresServer } from "../../support/postgres-server.js";

needing("postgres")("PostgreSQL", () => {
  let server: PostgresServer;
  let schemas = 0;
  beforeAll(async () => {
    server = await openPostgresServer();
  }, 60_000);
  afterAll(() => server.close());

  /** Each test has tables of its own. */
  const make = async () => {
    schemas += 1;
    const schema = `test_${schemas}`;
    const opened: PostgresEngine[] = [];
    const open = async () => {
      const engine = await PostgresEngine.open({ url: server.url, schema, connections: 5, logger: silentLogger });
      opened.push(engine);
      return engine;
    };
    const dispose = async () => {
      await Promise.all(opened.map((engine) => engine.close()));
    };
    return { engine: await open(), open, dispose, schema };
  };
  const rows = async (sql: string) => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    return (await client.query(sql).finally(() => client.end())).rows;
  };

  stateEngineContract("PostgreSQL", make);

  test("values with a NUL come back as they were", async () => {
    const { engine, dispose } = await make();
    const values = ["a\0b", "\u0001", '\u0001"a"', "\0"];
    await engine.commit("o:a", { id: "1", puts: values.map((value, index) => ({ key: `k${index}`, value })) });
    const { ranges } = await engine.read("o:a", { ranges: [{ from: "", to: "~" }] });
    expect(ranges[0]?.map(({ value }) => value)).toEqual(values);
    await dispose();
  });

  test("a read, a commit and a look at what is due are one statement each", async () => {
    const { engine, dispose } = await make();
    // It has looked by then whose tables these are.
    await engine.health();
    const statements = vi.spyOn(pg.Client.prototype, "query");
    const puts = [{ key: "a", value: "1" }];
    const checks = [{ key: "b", version: null }];
    await engine.commit("o:a", { id: "1", epoch: 0, version: 0, checks, puts, deletes: ["b"], dueByMs: 5, raisesEpoch: true });
    await engine.read("o:a", {
      keys: ["a", "b"],
      ranges: [
        { from: "", to: "b" },
        { from: "", to: "b", reverse: true, limit: 3 },
      ],
    });
    await engine.due(5, 10, 1_000);
    await engine.health();
    expect(statements.mock.calls).toHaveLength(4);
    statements.mockRestore();
    await dispose();
  });

  test("a refused commit leaves no partition behind", async () => {
    const { engine, dispose } = await make();
    const checks = [{ key: "a", version: 3 }];
    expect(await engine.commit("o:a", { id: "1", checks })).toMatchObject({ ok: false, keys: ["a"], version: 0 });
    expect(await engine.partitions({ limit: 10 })).toEqual([]);
    await dispose();
  });

  test("where many write to one partition a commit is known after a hundred others", async () => {
    const { engine, dispose } = await make();
    const first = { id: "first", puts: [{ key: "a", value: "1" }] };
    await engine.commit("o:a", first);
    for (let n = 0; n < 100; n++) await engine.commit("o:a", { id: `c${n}`, puts: [{ key: "a", value: "2" }] });
    expect(await engine.commit("o:a", first)).toEqual({ ok: true, version: 1, epoch: 0 });
    await dispose();
  });

  test("people read sessions, memories and all else in views, whatever a value is", async () => {
    const { engine, dispose, schema } = await make();
    const anna = ownerOf("hotel", "anna");
    const partition = ownerPartition(anna);
    const session = { title: "Rome\u0000", status: "active", created_at: "2026-01-01", updated_at: "2026-01-02", message_count: 3 };
    await engine.commit(partition, {
      id: "1",
      puts: [
        named(anna),
        { key: "session/1", value: JSON.stringify({ state: { session } }) },
        { key: "memory-log/000000000001", value: JSON.stringify({ op: "add" }) },
        { key: "record/odd/1", value: "no JSON" },
        { key: "record/odd/2", value: '"\\ud800"' },
      ],
    });
    const { message_count, ...texts } = session;
    expect(await rows(`SELECT * FROM "${schema}".sessions`)).toEqual([
      { owner: anna, id: "1", ...texts, title: "Rome\ufffd", message_count: String(message_count) },
    ]);
    expect(await rows(`SELECT owner, change FROM "${schema}".memories`)).toEqual([{ owner: anna, change: { op: "add" } }]);
    expect(await rows(`SELECT value FROM "${schema}".readable_entries WHERE key = 'record/odd/1'`)).toEqual([{ value: "no JSON" }]);
    expect(await rows(`SELECT count(*)::int FROM "${schema}".readable_entries`)).toEqual([{ count: 5 }]);
    await dispose();
  });
});
