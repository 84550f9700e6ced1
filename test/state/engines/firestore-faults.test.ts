import { afterAll, beforeAll, expect, test } from "vitest";
import { ownerOf } from "../../../src/domain/owner.js";
import { type Logger, silentLogger } from "../../../src/platform/logger.js";
import { committed } from "../../../src/state/durable-commit.js";
import { firestoreClient } from "../../../src/state/engines/firestore/firestore-client.js";
import { FirestoreEngine, type FirestoreEngineOptions } from "../../../src/state/engines/firestore/firestore-engine.js";
import { named, ownerPartition } from "../../../src/state/partition.js";
import { type FirestoreEmulator, openFirestoreEmulator } from "../../support/firestore-emulator.js";
import { freePort } from "../../support/free-port.js";
import { needing } from "../../support/needing.js";
import { answering, makeOrchestrator } from "../../support/orchestrator.js";
import { type CuttingProxy, startCuttingProxy } from "./cutting-proxy.js";
import { watchedFirestore } from "./watched-firestore.js";

needing("firestore")("Firestore, its costs and its failures", () => {
  let emulator: FirestoreEmulator;
  let proxy: CuttingProxy;
  const engines: FirestoreEngine[] = [];
  beforeAll(async () => {
    emulator = await openFirestoreEmulator();
    proxy = await startCuttingProxy({ host: "127.0.0.1", port: Number(emulator.host.split(":")[1]) });
  }, 60_000);
  afterAll(async () => {
    await Promise.all(engines.map((engine) => engine.close()));
    await proxy.close();
    await emulator.close();
  });

  const addressOf = (project: string) => ({ project, database: "(default)", emulator: emulator.host });
  const open = async (project: string, options: Partial<FirestoreEngineOptions> = {}) => {
    const engine = await FirestoreEngine.open({ ...addressOf(project), startupWaitMs: 0, logger: silentLogger, ...options });
    engines.push(engine);
    return engine;
  };
  const put = (id: string, key = "k", value = "1") => ({ id, puts: [{ key, value }] });

  test("a commit is one look and one write, a read of keys one look, with ranges one more for each", async () => {
    const { connect, calls } = watchedFirestore();
    const engine = await open("costs", { connect });
    calls.length = 0;
    await engine.commit("o:a", { ...put("1"), checks: [{ key: "x", version: null }], deletes: ["y"], dueByMs: 5 });
    expect(calls.splice(0)).toEqual(["read", "commit"]);
    await engine.read("o:a", { keys: ["k", "x"] });
    expect(calls.splice(0)).toEqual(["read"]);
    await engine.read("o:a", { keys: ["k"], ranges: [{ from: "a", to: "b" }] });
    expect(calls.splice(0)).toEqual(["read", "read"]);
    // On what it has just read it writes without a look; what is refused by that is looked at again.
    const checks = [
      { key: "k", version: 1 },
      { key: "aa", version: null },
    ];
    expect(await engine.commit("o:a", { ...put("2"), checks })).toMatchObject({ ok: true });
    expect(calls.splice(0)).toEqual(["commit"]);
    expect(await engine.commit("o:a", { ...put("3"), version: 7 })).toMatchObject({ refused: "version" });
    expect(calls).toEqual(["read"]);
  });

  test("what another process wrote since is met by the write, which begins again", async () => {
    const { connect, calls } = watchedFirestore();
    const [engine, other] = [await open("races", { connect }), await open("races")];
    await engine.commit("o:a", put("1"));
    await other.commit("o:a", put("2", "new"));
    calls.length = 0;
    expect(await engine.commit("o:a", put("3"))).toEqual({ ok: true, version: 3, epoch: 0 });
    expect(calls.splice(0)).toEqual(["commit", "read", "commit"]);
    const checks = [{ key: "made", version: null }];
    await other.commit("o:a", put("4", "made"));
    expect(await engine.commit("o:a", { ...put("5", "made"), checks })).toMatchObject({ refused: "checks", keys: ["made"] });
    expect(await engine.commit("o:a", { ...put("6", "x"), checks: [{ key: "k", version: 3 }], version: 4 })).toMatchObject({ ok: true });
  });

  test("a turn costs at most 4 reads and 2 commits before its answer", async () => {
    const { connect, calls } = watchedFirestore();
    const engine = await open("a-turn", { connect });
    const ada = ownerOf("default", "ada");
    const { chat } = await makeOrchestrator(answering("one", "two"), { engine });
    // The answer is told when the second commit has ended.
    const beforeTheAnswer = () => {
      const own = calls.slice(0, calls.indexOf("commit", calls.indexOf("commit") + 1) + 1);
      return { reads: own.filter((call) => call === "read").length, commits: own.length - own.filter((call) => call === "read").length };
    };
    /** Events are published behind the answer. */
    let looked = -1;
    const isQuiet = () => {
      const before = looked;
      looked = calls.length;
      return looked === before;
    };
    calls.length = 0;
    const { session_id: sessionId } = await chat.chat({ owner: ada, message: "hello" });
    expect(beforeTheAnswer()).toEqual({ reads: 4, commits: 2 });
    await expect.poll(isQuiet, { timeout: 10_000, interval: 250 }).toBe(true);
    calls.length = 0;
    await chat.chat({ owner: ada, sessionId, message: "again" });
    expect(beforeTheAnswer()).toEqual({ reads: 4, commits: 2 });
  });

  test("people find a user, and what is theirs below", async () => {
    const engine = await open("readable");
    const anna = ownerOf("hotel", "anna");
    const partition = ownerPartition(anna);
    const client = await firestoreClient(addressOf("readable"));
    await engine.commit(partition, { id: "1", puts: [named(anna), { key: "session/a.b", value: "{}" }] });
    const users = await client.collection("maitred").where("owner", "==", JSON.stringify(anna)).get();
    expect(users.docs.map(({ id }) => id)).toEqual([partition]);
    const [, session] = (await client.doc(`maitred/${partition}`).collection("maitred_entries").orderBy("key").get()).docs;
    expect(session?.id).toBe("session.:a.-b");
    expect(session?.data()).toEqual({ key: "session/a.b", value: "{}", version: 1, partition });
    await engine.erase(partition);
    expect((await client.doc(`maitred/${partition}`).get()).get("owner")).toBeNull();
    await client.terminate();
  });

  test("a commit whose reply was lost is told to have happened, and happened once", async () => {
    const engine = await open("lost-reply", { emulator: `127.0.0.1:${proxy.port}` });
    for (let done = 1; done <= 3; done++) {
      const cut = proxy.cutNextReply(`cut-${done}-now`);
      const result = await engine.commit("o:lost", { ...put(`cut-${done}-now`, "count", String(done)), version: done - 1 });
      await cut;
      expect(result).toEqual({ ok: true, version: done, epoch: 0 });
    }
    expect(await engine.read("o:lost", { keys: ["count"] })).toMatchObject({ version: 3 });
  });

  test("one that answers nothing is down, a commit's outcome is not known, and later it is", async () => {
    const engine = await open("quiet", { emulator: `127.0.0.1:${proxy.port}`, timeoutMs: 2_000 });
    proxy.pause();
    expect(await engine.health()).toMatchObject({ status: "down" });
    await expect(engine.commit("o:a", put("1"))).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    proxy.resume();
    await expect.poll(() => engine.health(), { timeout: 15_000 }).toEqual({ status: "ok" });
    expect(await committed(engine, "o:a", { puts: [{ key: "k", value: "2" }] })).toMatchObject({ ok: true });
  });

  test.each([
    ["one that takes no writes of this account", { code: 7, message: "Missing or insufficient permissions." }, "roles/datastore.user"],
    ["one that is full, or over its quota", { code: 8, message: "Quota exceeded." }, "nothing is done twice"],
  ])("%s is down, refuses commits with what to do, and loses nothing", async (_, error, hint) => {
    const firestore = watchedFirestore();
    const engine = await open(`refusing-${error.code}`, { connect: firestore.connect });
    await engine.commit("o:a", put("1"));
    firestore.fail("commit", error);
    await expect(engine.commit("o:a", put("2", "k", "lost"))).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      hint: expect.stringContaining(hint),
    });
    expect(await engine.health()).toMatchObject({ status: "down", detail: expect.stringContaining("Firestore") });
    firestore.fail("commit", null);
    expect(await engine.health()).toEqual({ status: "ok" });
    expect((await engine.read("o:a", { keys: ["k"] })).entries.get("k")?.value).toBe("1");
  });

  test.each([
    ["without its index", { code: 9, message: "9 FAILED_PRECONDITION: The query requires an index." }, "deploy/firestore.indexes.json"],
    ["with a wrong key", { code: 16, message: "16 UNAUTHENTICATED: invalid authentication" }, "GOOGLE_APPLICATION_CREDENTIALS"],
    ["without a key", { message: "Could not load the default credentials." }, "GOOGLE_APPLICATION_CREDENTIALS"],
    ["without the database", { code: 5, message: "5 NOT_FOUND: The database (default) does not exist" }, "FIRESTORE_DATABASE"],
  ])("a start %s ends at once, and says what to do", async (_, error, hint) => {
    const firestore = watchedFirestore();
    firestore.fail("read", error);
    await expect(open("refused", { connect: firestore.connect, startupWaitMs: 60_000 })).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      hint: expect.stringContaining(hint),
    });
  });

  test.each([
    ["a newer", 1_000, /version 1000; .* knows 2\./],
    ["an older", 1, /version 1, .* knows 2\./],
  ])("a start is refused on what %s Maitred wrote", async (_, layout, said) => {
    const name = `of-${layout}`;
    await open(name);
    const client = await firestoreClient(addressOf(name));
    await client.doc("maitred_installation/current").update({ layout }, { exists: true });
    await client.terminate();
    await expect(open(name)).rejects.toMatchObject({
      message: expect.stringMatching(said),
      hint: expect.stringContaining("FIRESTORE_DATABASE"),
    });
  });

  test("a start is refused where a part is missing", async () => {
    const half = await firestoreClient(addressOf("half"));
    await half.doc("maitred/o:a").create({ version: 1 });
    await half.terminate();
    await expect(open("half")).rejects.toMatchObject({ hint: expect.stringContaining("restored in part") });
  });

  test("another database under the same name is down", async () => {
    const engine = await open("replaced");
    const client = await firestoreClient(addressOf("replaced"));
    await client.doc("maitred_installation/current").update({ id: "another" }, { exists: true });
    await client.terminate();
    expect(await engine.health()).toMatchObject({ status: "down", detail: expect.stringContaining("another installation") });
  });

  test("a start waits for one that does not answer, says so once, and names it when it gives up", async () => {
    const said: string[] = [];
    const logger: Logger = { ...silentLogger, warn: (_: object, message?: string) => void said.push(message ?? "") };
    const address = `127.0.0.1:${await freePort()}`;
    await expect(open("none", { emulator: address, startupWaitMs: 3_000, timeoutMs: 1_000, logger })).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringContaining(address),
      hint: expect.stringContaining("FIRESTORE_EMULATOR_HOST"),
    });
    expect(said).toEqual([expect.stringContaining("Waiting for Firestore")]);
  });
});
