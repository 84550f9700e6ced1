import { describe, expect, test } from "vitest";
import type { Maintenance } from "../../src/cli/maintenance.js";
import { maintenanceOf } from "../../src/cli/maintenance-of.js";
import { parseConfig } from "../../src/compose/config.js";
import { ownerOf } from "../../src/domain/owner.js";
import { AppError } from "../../src/platform/errors.js";
import type { Readiness } from "../../src/ports/resources.js";
import type { JournalCheck } from "../../src/ports/session-store.js";
import { catchUpIndex } from "../../src/state/jsonl/index-catch-up.js";
import { alice, bob, makeWorld } from "../support/session-world.js";
import { run, runRemote } from "./run.js";

const HEALTHY: Readiness = { status: "ok", parts: { long_term: { status: "ok" }, history: { status: "disabled" } } };
const INTACT: JournalCheck = { sessionId: "s", path: "/data/s.jsonl", records: 3, damagedLines: [], tornBytes: 0 };

function healthy(change: Partial<Maintenance> = {}): Partial<Maintenance> {
  return {
    pendingWriteBacks: async () => ({ pending: 0, failed: 0 }),
    async *givenUpTurns() {},
    openErasures: async () => 0,
    encryptedUnder: async () => null,
    async *journals() {
      yield INTACT;
    },
    async *databases() {
      yield { path: "/data/vectors.db", damaged: false };
    },
    ...change,
  };
}

function doctor(maintenance: Partial<Maintenance>, readiness: Readiness = HEALTHY, argv: readonly string[] = ["doctor"]) {
  return run(argv, { maintenance, application: { readiness: async () => readiness } });
}

describe("doctor", () => {
  test("finds nothing wrong where nothing is", async () => {
    const ran = await doctor(healthy());
    expect(ran).toMatchObject({ code: 0, closed: 1, stderr: "" });
    expect(ran.stdout).not.toMatch(/^[!✗]/mu);
    expect(ran.stdout).toContain("✓ Encryption: off");
    expect(ran.stdout).toContain("✓ Journals: 1, all intact");
    expect(ran.stdout).toContain("✓ Databases: 1, all intact");
  });

  test("[write-back-visible] names who is behind turns that failed, and in which session, the first ten of them", async () => {
    const given = Array.from({ length: 12 }, (_, i) => ({ tenant: i === 0 ? "default" : "spa", user: `guest${i}`, sessionId: `s${i}` }));
    const ran = await doctor(
      healthy({
        pendingWriteBacks: async () => ({ pending: 0, failed: 24 }),
        async *givenUpTurns() {
          for (const each of given) yield { ...each, turns: 2, code: "MODEL_UNAVAILABLE" };
        },
      }),
    );
    expect(ran.stdout).toContain("24 turns failed, 0 are pending\n    user guest0, session s0: 2 (MODEL_UNAVAILABLE)\n");
    expect(ran.stdout).toContain("    user guest9 of tenant spa, session s9: 2 (MODEL_UNAVAILABLE)\n    and others\n");
    expect(ran.stdout).not.toContain("guest10");
  });

  test.each<[string, Partial<Maintenance>, Readiness, number, RegExp]>([
    [
      "a damaged journal",
      {
        journals: async function* () {
          yield { ...INTACT, damagedLines: [7] };
        },
      },
      HEALTHY,
      6,
      /✗ Journal: \/data\/s\.jsonl: 1 damaged lines \(7\)\n.*backup/u,
    ],
    [
      "a record that was never finished",
      {
        journals: async function* () {
          yield { ...INTACT, tornBytes: 9 };
        },
      },
      HEALTHY,
      0,
      /! Journal: .*9 bytes/u,
    ],
    [
      "a damaged database",
      {
        databases: async function* () {
          yield { path: "/data/state.db", damaged: true };
          yield { path: "/data/vectors.db", damaged: true };
        },
      },
      HEALTHY,
      6,
      /✗ Database: \/data\/state\.db: damaged\n.*whole backup.*\n✗ Database: \/data\/vectors\.db: damaged\n.*move the file away/u,
    ],
    [
      "turns that could not be written back",
      { pendingWriteBacks: async () => ({ pending: 1, failed: 2 }) },
      HEALTHY,
      0,
      /! Write-back: 2 turns failed, 1 are pending\n.*maitred promote --all-users/u,
    ],
    [
      "an erasure that is not finished",
      { openErasures: async () => 1 },
      HEALTHY,
      6,
      /✗ Erasures: 1 could not be finished\n.*start the server/u,
    ],
    [
      "a store that is down",
      {},
      { status: "degraded", parts: { long_term: { status: "down", detail: "ECONNREFUSED" } } },
      6,
      /✗ long_term: down: ECONNREFUSED\n.*address and key/u,
    ],
  ])("tells %s, and what to do", async (_name, change, readiness, code, told) => {
    const ran = await doctor(healthy(change), readiness);
    expect(ran.code).toBe(code);
    expect(ran.stdout).toMatch(told);
    // The other checks were made all the same.
    expect(ran.stdout).toContain("✓ Storage");
  });

  test("with --strict what works but wants a look ends with 6 too", async () => {
    const slow: Readiness = { status: "degraded", parts: { history: { status: "degraded", detail: "catching up" } } };
    expect((await doctor(healthy(), slow)).code).toBe(0);
    expect((await doctor(healthy(), slow, ["doctor", "--strict"])).code).toBe(6);
    expect((await doctor(healthy(), HEALTHY, ["doctor", "--strict"])).code).toBe(0);
  });

  test("with --json gives every finding with its status", async () => {
    const ran = await doctor(healthy({ openErasures: async () => 1 }), HEALTHY, ["--json", "doctor"]);
    const report = JSON.parse(ran.stdout) as { status: string; findings: { check: string; status: string }[] };
    expect(report.status).toBe("fail");
    expect(report.findings.find(({ check }) => check === "Erasures")?.status).toBe("fail");
  });

  test("tells a wrong configuration, an old Node and a missing SQLite, without opening anything", async () => {
    const ran = await run(["doctor"], {
      parts: {
        nodeVersion: "20.18.1",
        readConfig: () => parseConfig({ PORT: "many" }),
        sqliteVersion: () => Promise.reject(new Error("no binding")),
        open: () => Promise.reject(new Error("opened")),
      },
    });
    expect(ran.code).toBe(6);
    expect(ran.stdout).toContain("✗ Node.js: 20.18.1\n    Install Node.js 20.19");
    expect(ran.stdout).toContain("✗ SQLite: no binding");
    expect(ran.stdout).toMatch(/✗ Configuration: PORT: a whole number/u);
    expect(ran.stdout).not.toContain("opened");
  });

  test("tells a directory that is in use, and one whose vectors don't fit", async () => {
    const used = await run(["doctor"], {
      parts: { open: () => Promise.reject(new AppError("STORAGE_IN_USE", { detail: "Process 42 is using it." })) },
    });
    expect(used).toMatchObject({ code: 0 });
    expect(used.stdout).toMatch(/! Storage: Process 42 is using it\.\n.*--url/u);
    const unfit = await run(["doctor"], { parts: { open: () => Promise.reject(new AppError("REINDEX_REQUIRED")) } });
    expect(unfit.code).toBe(6);
    expect(unfit.stdout).toContain("maitred reindex");
  });

  test("asks a server with --url", async () => {
    const ran = await runRemote(["doctor"], {
      application: { readiness: async () => ({ status: "down", parts: { history: { status: "down" } } }) },
    });
    expect(ran.code).toBe(6);
    expect(ran.stdout).toContain("✗ history: down");
  });
});

describe("retention and promote", () => {
  const report = { dry_run: true, deleted: 3, purged: 1, busy: 0, failed: 0 };

  test("retention --dry-run says what would be done", async () => {
    const asked: boolean[] = [];
    const maintenance: Partial<Maintenance> = {
      retention: async ({ dryRun }) => {
        asked.push(dryRun);
        return { ...report, dry_run: dryRun };
      },
    };
    expect((await run(["retention", "--dry-run"], { maintenance })).stdout).toBe(
      "3 sessions would be deleted (recoverable), 1 would be purged.\n",
    );
    expect((await run(["retention", "--apply"], { maintenance })).stdout).toBe("3 sessions deleted (recoverable), 1 purged.\n");
    expect(asked).toEqual([true, false]);
    const failing = await run(["--json", "retention", "--apply"], { maintenance: { retention: async () => ({ ...report, failed: 2 }) } });
    expect(failing.code).toBe(6);
    expect(JSON.parse(failing.stdout)).toMatchObject({ failed: 2 });
  });

  test("promote works for one user, or for all", async () => {
    const owners: unknown[] = [];
    const maintenance: Partial<Maintenance> = {
      promote: async ({ owner }) => {
        owners.push(owner);
        return { sessions: 1, messages: 4, stored: 2, confirmed: 1, failed_sessions: 0 };
      },
    };
    const ran = await run(["--user", "alice", "promote"], { maintenance });
    expect(ran).toMatchObject({ code: 0, stdout: "4 messages of 1 sessions: 2 memories, 1 confirmed.\n" });
    await run(["promote", "--all-users"], { maintenance });
    expect(owners).toEqual([ownerOf("default", "alice"), undefined]);
  });
});

describe("reindex", () => {
  test("rebuilds the list of sessions from the journals, also where it was lost or wrong, then history, and tells how far it is", async () => {
    const world = await makeWorld();
    const { sessions, say, store, ledger } = world;
    const kept = [];
    for (const owner of [alice, bob]) {
      const session = await sessions.create(owner, { title: `of ${owner}` });
      await say(owner, session.id, "hello", "hi");
      kept.push({ owner, session: await sessions.get(owner, session.id) });
    }
    await store.index.remove(alice, kept[0]?.session.id ?? "");
    const progress: [number, number][] = [];
    const maintenance = maintenanceOf({
      config: parseConfig({ SHORT_TERM_BACKEND: "memory" }),
      store,
      ledger,
      isMerge: async () => false,
      encryptedUnder: async () => null,
      resolve: async (owner) => owner,
      rebuildIndex: async (options) => {
        await store.index.clear();
        return catchUpIndex(store, options);
      },
      longTerm: { rebuild: () => Promise.reject(new Error("not expected")) },
      promotion: { run: () => Promise.reject(new Error("not expected")) },
      operator: { users: () => Promise.reject(new Error("not expected")) },
      retention: () => Promise.reject(new Error("not expected")),
      reindex: async ({ which, onProgress }) => {
        expect(which).toBe("all");
        onProgress?.({ sessions: 1, added: 2, failed: 0 });
        return { sessions: 2, added: 4, failed: 0 };
      },
    });
    const ran = await run(["reindex"], {
      maintenance: { ...maintenance, reindex: (options) => maintenance.reindex({ ...options, onProgress: (...at) => progress.push(at) }) },
    });
    expect(ran).toMatchObject({
      code: 0,
      stdout: "Rebuilt: 2 sessions, 2 sessions searched, 4 messages added to history, 0 sessions failed.\n",
    });
    expect(progress).toEqual([
      [1, 4],
      [2, 4],
      [3, 4],
    ]);
    for (const { owner, session } of kept) expect(await sessions.get(owner, session.id)).toEqual(session);
  });
});
