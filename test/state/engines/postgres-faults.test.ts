import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLogger } from "../../../src/platform/logger.js";
import { committed } from "../../../src/state/durable-commit.js";
import { prefixRange } from "../../../src/state/engine.js";
import { PostgresEngine, type PostgresEngineOptions } from "../../../src/state/engines/postgres/postgres-engine.js";
import { needing } from "../../support/needing.js";
import { openPostgresServer, type PostgresServer } from "../../support/postgres-server.js";
import { type CuttingProxy, startCuttingProxy } from "./cutting-proxy.js";

needing("postgres")("PostgreSQL that fails", () => {
  let server: PostgresServer;
  let proxy: CuttingProxy;
  let engines: PostgresEngine[] = [];
  beforeAll(async () => {
    server = await openPostgresServer();
    proxy = await startCuttingProxy({ host: "127.0.0.1", port: Number(new URL(server.url).port) });
  }, 60_000);
  afterAll(async () => {
    await Promise.all(engines.map((engine) => engine.close()));
    await proxy.close();
    await server.close();
  });

  const open = async (schema: string, options: Partial<PostgresEngineOptions> = {}) => {
    const engine = await PostgresEngine.open({ url: server.url, schema, logger: silentLogger, connections: 8, ...options });
    engines = [...engines, engine];
    return engine;
  };
  const throughProxy = () => {
    const url = new URL(server.url);
    url.port = String(proxy.port);
    return { url: url.toString() };
  };
  const run = async (sql: string) => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  };
  const until = (engine: PostgresEngine, status: "ok" | "down") =>
    expect.poll(() => engine.health(), { timeout: 15_000 }).toMatchObject({ status });

  test("a commit whose reply was lost is told to have happened, and happened once", async () => {
    const engine = await open("lost_reply", throughProxy());
    await engine.commit("o:lost", { id: "first", puts: [{ key: "count", value: "0" }] });
    for (let done = 1; done <= 5; done++) {
      const cut = proxy.cutNextReply("o:lost");
      const result = await committed(engine, "o:lost", {
        version: done,
        checks: [{ key: "count", version: done }],
        puts: [{ key: "count", value: String(done) }],
      });
      await cut;
      expect(result).toEqual({ ok: true, version: done + 1, epoch: 0 });
    }
    expect((await engine.read("o:lost", { keys: ["count"] })).entries.get("count")).toEqual({ key: "count", value: "5", version: 6 });
  });

  test("the outcome of a commit whose reply was lost is not known to who does not ask again", async () => {
    const engine = await open("lost_outcome", throughProxy());
    const cut = proxy.cutNextReply("o:unknown");
    await expect(engine.commit("o:unknown", { id: "a", puts: [{ key: "k", value: "1" }] })).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
    });
    await cut;
    expect((await engine.read("o:unknown", { keys: ["k"] })).version).toBe(1);
  });

  test("every commit that was acknowledged is there, and none twice, after the server was killed under 8 writers", async () => {
    const engine = await open("killed");
    const acknowledged: string[] = [];
    let left = 200;
    const writer = async (name: number) => {
      for (let step = 0; left > 0; step++) {
        left -= 1;
        const key = `step/${name}/${String(step).padStart(4, "0")}`;
        // The same one until it is known: as `committed` does it, for as long as a restart takes.
        for (const commit = { id: `c-${key}`, puts: [{ key, value: "1" }] }; ; ) {
          try {
            const result = await engine.commit("o:killed", commit);
            if (result.ok) acknowledged.push(`${key} ${result.version}`);
            break;
          } catch (error) {
            expect(error).toMatchObject({ code: "STORAGE_UNAVAILABLE" });
            await new Promise((resolve) => setTimeout(resolve, 50));
          }
        }
      }
    };
    const writers = Promise.all(Array.from({ length: 8 }, (_, name) => writer(name)));
    await expect.poll(() => acknowledged.length, { interval: 5 }).toBeGreaterThan(40);
    await server.kill();
    await server.start();
    await writers;
    const { ranges, version } = await engine.read("o:killed", { ranges: [prefixRange("step/")] });
    expect((ranges[0] ?? []).map((entry) => `${entry.key} ${entry.version}`)).toEqual(acknowledged.toSorted());
    expect(acknowledged).toHaveLength(200);
    expect(version).toBe(200);
  });

  test("a server that takes no writes is down and refuses commits, until it takes them again", async () => {
    const engine = await open("read_only");
    await run("ALTER SYSTEM SET default_transaction_read_only = on");
    await run("SELECT pg_reload_conf()");
    await until(engine, "down");
    expect(await engine.health()).toMatchObject({ detail: expect.stringContaining("read-only") });
    await expect(engine.commit("o:1", { id: "a", puts: [{ key: "k", value: "1" }] })).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      hint: expect.stringContaining("primary"),
    });
    expect((await engine.read("o:1", {})).version).toBe(0);
    await run("ALTER SYSTEM RESET default_transaction_read_only");
    await run("SELECT pg_reload_conf()");
    await until(engine, "ok");
    expect(await engine.commit("o:1", { id: "a", puts: [{ key: "k", value: "1" }] })).toMatchObject({ ok: true });
  });

  test("a schema that was dropped is down, also when another installation made it anew", async () => {
    const engine = await open("replaced");
    expect(await engine.health()).toEqual({ status: "ok" });
    await run('DROP SCHEMA "replaced" CASCADE');
    expect(await engine.health()).toMatchObject({ status: "down", detail: expect.stringContaining("gone") });
    await open("replaced");
    expect(await engine.health()).toMatchObject({ status: "down", detail: expect.stringContaining("another installation") });
  });

  test("a server that answers nothing is down within 2 seconds or so", async () => {
    const engine = await open("quiet", throughProxy());
    proxy.pause();
    const begun = performance.now();
    expect(await engine.health()).toMatchObject({ status: "down", detail: expect.stringContaining("within") });
    expect(performance.now() - begun).toBeLessThan(3_000);
    proxy.resume();
    await until(engine, "ok");
  });

  test("connections that an administrator ends are replaced", async () => {
    const engine = await open("ended");
    await engine.commit("o:1", { id: "a", puts: [{ key: "k", value: "1" }] });
    await run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'maitred'");
    await until(engine, "ok");
    expect(await committed(engine, "o:1", { puts: [{ key: "k", value: "2" }] })).toMatchObject({ ok: true, version: 2 });
  });

  test("many that write to one partition at once wait for each other", async () => {
    const [one, other] = [await open("many"), await open("many")];
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        (n % 2 === 0 ? one : other).commit("o:many", { id: `c${n}`, puts: [{ key: `k/${n}`, value: "1" }], deletes: [`k/${n - 1}`] }),
      ),
    );
    expect(results.map(({ version }) => version).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => n + 1));
  });

  const raising = (schema: string, raise: string) =>
    run(`CREATE SEQUENCE "${schema}".raised; CREATE FUNCTION "${schema}".raises() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN ${raise} RETURN new; END $$;
      CREATE TRIGGER raises BEFORE INSERT ON "${schema}".entries FOR EACH ROW EXECUTE FUNCTION "${schema}".raises()`);

  test("what PostgreSQL takes back for another statement's sake is sent again", async () => {
    const engine = await open("taken_back");
    await raising("taken_back", `IF nextval('"taken_back".raised') < 3 THEN RAISE EXCEPTION 'no' USING ERRCODE = '40001'; END IF;`);
    expect(await engine.commit("o:1", { id: "a", puts: [{ key: "k", value: "1" }] })).toEqual({ ok: true, version: 1, epoch: 0 });
  });

  test("a full disk is named, nothing of the commit is there, and no row is in the error", async () => {
    const engine = await open("full");
    await raising("full", "RAISE EXCEPTION 'no' USING ERRCODE = '53100', DETAIL = new.value;");
    const refused = await engine.commit("o:1", { id: "a", puts: [{ key: "k", value: "a word of Anna's" }] }).catch((error) => error);
    expect(refused).toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringContaining("full"),
      hint: expect.stringContaining("Free space"),
    });
    expect(JSON.stringify([refused, refused.cause])).not.toContain("Anna");
    expect((await engine.read("o:1", {})).version).toBe(0);
    expect(await engine.partitions({ limit: 1 })).toEqual([]);
  });
});
