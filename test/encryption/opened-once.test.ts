import crypto from "node:crypto";
import { rm } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { LRUCache } from "lru-cache";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { DataKey, NotAuthentic, sealedUnder } from "../../src/state/encryption/data-key.js";
import { EncryptedEngine } from "../../src/state/encryption/encrypted-engine.js";
import { keysOfFile } from "../../src/state/encryption/key-file.js";
import { INSTALLATION_KEYS, KEYS, Keyring } from "../../src/state/encryption/keyring.js";
import { sealedJournals, sealedOwners } from "../../src/state/encryption/sealed-journals.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { EngineOwnerLedger } from "../../src/state/ledger/ledger.js";
import { ownerPartition } from "../../src/state/partition.js";
import { tell } from "../support/a-life.js";
import { openPlace, startIn } from "./everything.js";

const opening = vi.spyOn(crypto, "createDecipheriv");
syncBuiltinESMExports();
const caching = vi.spyOn(LRUCache.prototype, "set");
afterAll(() => {
  opening.mockRestore();
  caching.mockRestore();
  syncBuiltinESMExports();
});

const owner = ownerOf("default", "guest");
const home = new MemoryEngine();
const partition = ownerPartition(owner);
/** As each process has one; the keys themselves are deciphered. */
async function keyring() {
  const own = new Keyring(keysOfFile("key", "00".repeat(32)), home);
  const key = await own.kept(partition);
  opening.mockClear();
  return { own, key };
}

/** Whether any cache of this process holds it. */
function isHeld(text: string): boolean {
  return [...new Set(caching.mock.contexts)].some(
    (cache) => cache instanceof LRUCache && JSON.stringify([...cache.values()]).includes(text),
  );
}

/** Keys beside the values, as in an engine that several processes share. */
function beside() {
  const inner = new MemoryEngine();
  const vault = keysOfFile("key", "00".repeat(32));
  const own = new Keyring(vault, inner);
  return { vault, own, inner, engine: new EncryptedEngine(inner, own) };
}

test("what a turn reads again, of memories and of lines, is deciphered once", async () => {
  const { own } = await keyring();
  const payload = (await sealedOwners(own).toWrite(owner)).seal("a gluten allergy", "memory\n1");
  const line = (await sealedJournals(own).sealer(owner, "s")).seal?.("I can't eat bread.", "1") ?? "";
  const { own: other } = await keyring();
  for (let turn = 0; turn < 3; turn++) {
    expect((await sealedOwners(other).of(owner)).open(payload, "memory\n1")).toBe("a gluten allergy");
    expect((await sealedJournals(other).opener(partition, "s"))(line, "1")).toBe("I can't eat bread.");
  }
  expect(opening).toHaveBeenCalledTimes(2);
});

test("what was just sealed is not deciphered, and in another place is refused all the same", async () => {
  const { key } = await keyring();
  const sealed = key.seal("a gluten allergy", "here");
  expect(key.open(sealed, "here")).toBe("a gluten allergy");
  expect(opening).not.toHaveBeenCalled();
  expect(() => key.open(sealed, "there")).toThrow(NotAuthentic);
  expect(() => key.open(`${sealed.slice(0, -8)}AAAAAAAA`, "here")).toThrow(NotAuthentic);
});

test("a turn of a conversation that goes on deciphers nothing, and seals each value that it writes once", async () => {
  const { base } = await openPlace();
  onTestFinished(() => rm(base, { recursive: true, force: true }));
  const application = await startIn(base);
  const session = await tell(application, owner, "I prefer jazz.");
  await tell(application, owner, "Is there any tonight?", session);
  await application.parts.worker.drain(20_000);
  opening.mockClear();
  const sealing = vi.spyOn(DataKey.prototype, "seal");
  const committing = vi.spyOn(EncryptedEngine.prototype, "commit");
  onTestFinished(() => sealing.mockRestore());
  onTestFinished(() => committing.mockRestore());
  await tell(application, owner, "And tomorrow?", session);
  await application.parts.worker.drain(20_000);
  expect(opening).not.toHaveBeenCalled();
  const texts = sealing.mock.calls.map(([text]) => text);
  expect(texts.length).toBeGreaterThan(10);
  // A commit that another came before is tried again.
  const asked = committing.mock.calls.flatMap(([, { puts = [] }]) => puts.map(({ value }) => value));
  const timesIn = (all: readonly string[], text: string) => all.filter((each) => each === text).length;
  expect(texts.filter((text) => timesIn(texts, text) > Math.max(1, timesIn(asked, text)))).toEqual([]);
});

test("[erased-by-key] of what a destroyed key sealed nothing is held in clear", async () => {
  const { own, key } = await keyring();
  const sealed = key.seal("a gluten allergy", "here");
  await own.destroy(partition);
  own.forget(partition);
  opening.mockClear();
  key.open(sealed, "here");
  expect(opening).toHaveBeenCalledTimes(1);
});

test("[erased-by-key] of a new owner's first commit nothing is held in clear once they are erased, nor are their keys", async () => {
  const { own, engine } = beside();
  const puts = [
    { key: "a", value: "a lactose intolerance" },
    { key: "b", value: "a fish allergy" },
  ];
  await engine.commit(partition, { id: "1", puts });
  await engine.read(partition, { keys: ["a"] });
  expect(isHeld("a lactose intolerance")).toBe(true);
  const { keys } = (await own.of(partition)).row;
  await engine.erase(partition);
  expect(puts.filter(({ value }) => isHeld(value))).toEqual([]);
  expect(keys.filter(({ wrapped }) => isHeld(wrapped))).toEqual([]);
});

test("[erased-by-key] a first commit that came to nothing holds nothing in clear", async () => {
  const { engine } = beside();
  const commit = { id: "1", puts: [{ key: "a", value: "a wheat allergy" }], checks: [{ key: "a", version: 7 }] };
  expect(await engine.commit(partition, commit)).toMatchObject({ ok: false });
  expect(isHeld("a wheat allergy")).toBe(false);
});

test("[erased-by-key] several who ask at once have one key, whose loss forgets what each of them opened", async () => {
  const { own } = beside();
  const sealed = (await own.kept(partition)).seal("a soy allergy", "here");
  own.drop(partition);
  const [one, other] = await Promise.all([own.of(partition), own.of(partition)]);
  expect(other).toBe(one);
  one.keys.get(sealedUnder(sealed) ?? "")?.open(sealed, "here");
  expect(isHeld("a soy allergy")).toBe(true);
  own.drop(partition);
  expect(isHeld("a soy allergy")).toBe(false);
});

test("[erased-by-key] who asked for keys before they were destroyed, and is answered behind it, gets none", async () => {
  const { own, vault } = beside();
  await own.kept(partition);
  own.drop(partition);
  const { unwrap } = vault;
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  vi.spyOn(vault, "unwrap").mockImplementationOnce(async (...asked) => {
    await answered;
    return unwrap(...asked);
  });
  const early = own.of(partition);
  await own.destroy(partition);
  own.forget(partition);
  answer();
  expect([...(await early).keys.keys(), ...(await own.of(partition)).keys.keys()]).toEqual([]);
});

test("[erased-by-key] a journal that was open puts nothing back of what was erased", async () => {
  const { own } = await keyring();
  const seals = sealedJournals(own);
  const { seal, opens } = await seals.sealer(owner, "s");
  const line = seal?.("I can't eat nuts.", "1") ?? "";
  own.drop(partition);
  // Read again by what holds now: once.
  await own.of(partition);
  opening.mockClear();
  for (let turn = 0; turn < 3; turn++) expect(opens(line, "1")).toBe("I can't eat nuts.");
  expect(opening).toHaveBeenCalledTimes(1);
  await own.destroy(partition);
  own.forget(partition);
  opens(line, "1");
  seal?.("I can't eat figs.", "2");
  expect([isHeld("I can't eat nuts."), isHeld("I can't eat figs.")]).toEqual([false, false]);
});

test.each(["read", "commit"] as const)(
  "[erased-by-key] where another process erased an owner, the next %s leaves nothing in clear",
  async (look) => {
    const { vault, engine, inner } = beside();
    const another = new EncryptedEngine(inner, new Keyring(vault, inner));
    await engine.commit(partition, { id: "1", puts: [{ key: "a", value: `a milk allergy, ${look}` }] });
    await engine.read(partition, { keys: ["a"] });
    expect(isHeld(`a milk allergy, ${look}`)).toBe(true);
    await another.erase(partition);
    if (look === "read") await engine.read(partition, { keys: ["b"] });
    else await engine.commit(partition, { id: "2", deletes: ["b"] });
    expect(isHeld(`a milk allergy, ${look}`)).toBe(false);
    await engine.commit(partition, { id: "3", puts: [{ key: "c", value: "an egg allergy" }] });
    expect((await another.read(partition, { keys: ["c"] })).entries.get("c")?.value).toBe("an egg allergy");
  },
);

/** An owner whom this process has only seen in a list, where others write. */
async function listed(value: string) {
  const { vault, inner, engine: another, own: keys } = beside();
  await another.commit(partition, { id: "1", puts: [{ key: "a", value }] });
  const own = new Keyring(vault, inner);
  const engine = new EncryptedEngine(inner, own);
  expect(await engine.partitions({ key: "a", limit: 9 })).toEqual([{ partition, value }]);
  expect(isHeld(value)).toBe(true);
  return { own, engine, another, keys };
}

test("[erased-by-key] of an owner who was only listed, and erased by another process, the next look leaves nothing in clear", async () => {
  const { engine, another } = await listed("a sesame allergy");
  await another.erase(partition);
  await engine.read(partition, { keys: ["b"] });
  expect(isHeld("a sesame allergy")).toBe(false);
});

test("[erased-by-key] who looked during an erasure, before the keys went, holds nothing from the next look on", async () => {
  const { engine, another, keys } = await listed("a mustard allergy");
  await another.commit(partition, { id: "2", raisesEpoch: true });
  expect((await engine.read(partition, { keys: ["a"] })).entries.get("a")?.value).toBe("a mustard allergy");
  await keys.destroy(partition);
  keys.forget(partition);
  expect((await engine.read(partition, { keys: ["a"] })).entries.size).toBe(0);
  expect(isHeld("a mustard allergy")).toBe(false);
});

test("[erased-by-key] keys that nobody has destroyed stay held, however often others are looked at", async () => {
  const { engine, own } = await listed("a lupin allergy");
  const held = own.held(partition);
  await engine.read(partition, { keys: ["b"] });
  await engine.commit(partition, { id: "3", puts: [{ key: "b", value: "1" }] });
  expect(own.held(partition)).toBe(held);
});

test("[erased-by-key] of an owner whom nobody looks at again nothing is held once erasures elsewhere are asked for", async () => {
  const { own, engine, another, keys } = await listed("a mollusc allergy");
  await own.dropErased();
  await engine.partitions({ key: "a", limit: 9 });
  await own.dropErased();
  expect(isHeld("a mollusc allergy")).toBe(true);
  const ledger = new EngineOwnerLedger(another);
  const at = new Date(0).toISOString();
  const { receiptId } = await ledger.beginErasure(owner, at);
  await own.dropErased();
  await engine.partitions({ key: "a", limit: 9 });
  await keys.destroy(partition);
  keys.forget(partition);
  await ledger.completeErasure(owner, { receipt_id: receiptId, completed_at: at, erased: {}, verified: true });
  await own.dropErased();
  expect(isHeld("a mollusc allergy")).toBe(false);
});

test("whoever was not erased stays known when others are: also while the master key is out of reach", async () => {
  const { own, engine, another, keys } = await listed("a rye allergy");
  const common = own.held(INSTALLATION_KEYS) ?? (await own.of(INSTALLATION_KEYS));
  const other = ownerPartition(ownerOf("default", "another"));
  await another.commit(other, { id: "4", puts: [{ key: "a", value: "a barley allergy" }] });
  await engine.read(other, { keys: ["a"] });
  expect(isHeld("a barley allergy")).toBe(true);
  const held = own.held(partition);
  const ledger = new EngineOwnerLedger(another);
  await own.dropErased();
  await ledger.beginErasure(ownerOf("default", "another"), new Date(0).toISOString());
  await keys.destroy(other);
  await own.dropErased();
  expect(isHeld("a barley allergy")).toBe(false);
  expect(own.held(partition)).toBe(held);
  expect(own.held(INSTALLATION_KEYS)).toBe(common);
});

test("of an owner who has not come for long nothing is held in clear", async () => {
  const home = new MemoryEngine();
  const wrap = async (key: Uint8Array) => Buffer.from(key).toString("base64");
  const own = new Keyring({ keyId: "plain", wrap, unwrap: async (wrapped) => Buffer.from(wrapped, "base64") }, home);
  (await own.kept(partition)).seal("a celery allergy", "here");
  expect(isHeld("a celery allergy")).toBe(true);
  const puts = [{ key: KEYS, value: JSON.stringify((await own.of(partition)).row) }];
  for (let n = 0; n < 10_000; n++) {
    const other = ownerPartition(ownerOf("default", `${n}`));
    await home.commit(other, { id: `${n}`, puts });
    await own.of(other);
  }
  expect(isHeld("a celery allergy")).toBe(false);
});
