import { expect, test } from "vitest";
import { newId } from "../../src/platform/ids.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { EngineImageStore } from "../../src/state/images/images.js";
import { EngineOwnerLedger } from "../../src/state/ledger/ledger.js";
import { ownerPartition } from "../../src/state/partition.js";
import { imageStoreContract } from "../contract/image-store.contract.js";
import { ALICE } from "../support/journal-records.js";
import { CutEngine, contentsOf } from "./cut-engine.js";

const ID = "1a".repeat(32);
const DAY_MS = 86_400_000;
const SMALL = { maxValueBytes: 1_000, maxCommitBytes: 6_500 };

imageStoreContract("engine", async () => ({ images: new EngineImageStore(new MemoryEngine()), dispose: async () => {} }));

const session = newId();
const data = Buffer.alloc(9_000, "some bytes ");

test("an image whose every reply is lost once is there, once", async () => {
  for (let lostReply = 1, commits = 9; lostReply <= commits; lostReply++) {
    const engine = new MemoryEngine();
    const cut = new CutEngine(engine, { lostReply }, SMALL);
    await new EngineImageStore(cut).put(ALICE, session, ID, data);
    const images = new EngineImageStore(engine);
    expect(Buffer.compare(Buffer.from((await images.get(ALICE, session, ID)) ?? []), data)).toBe(0);
    expect(await images.residue(ALICE)).toBe(1);
    commits = cut.commits - 1;
    expect(commits).toBeGreaterThan(3);
  }
});

test("an image that was written half is not there, goes with its session, and can be put again", async () => {
  for (const again of [true, false])
    for (let killed = 2; killed <= 6; killed++) {
      const engine = new MemoryEngine();
      const put = new EngineImageStore(new CutEngine(engine, { killed }, SMALL)).put(ALICE, session, ID, data);
      await expect(put).rejects.toThrow("killed");
      const images = new EngineImageStore(new CutEngine(engine, {}, SMALL));
      expect(await images.get(ALICE, session, ID)).toBeNull();
      expect(await images.residue(ALICE)).toBe(1);
      if (again) {
        await images.put(ALICE, session, ID, data);
        expect(Buffer.compare(Buffer.from((await images.get(ALICE, session, ID)) ?? []), data)).toBe(0);
      } else {
        expect(await images.removeSession(ALICE, session)).toBe(1);
        expect(await images.residue(ALICE)).toBe(0);
        expect(await contentsOf(engine)).not.toContain("image");
      }
    }
});

test("an image in more parts than one commit deletes goes whole, also where that was broken off", async () => {
  for (let killed = 1; killed <= 3; killed++) {
    const engine = new MemoryEngine();
    const few = { ...SMALL, maxOperations: 6 };
    await new EngineImageStore(new CutEngine(engine, {}, few)).put(ALICE, session, ID, data);
    const removal = new EngineImageStore(new CutEngine(engine, { killed }, few)).erase(ALICE);
    await expect(removal).rejects.toThrow("killed");
    const images = new EngineImageStore(new CutEngine(engine, {}, few));
    if (killed > 1) expect(await images.get(ALICE, session, ID)).toBeNull();
    expect(await images.erase(ALICE)).toBe(1);
    expect(await contentsOf(engine)).not.toContain("image");
  }
});

test("while an erasure is open no image is put, and one that was on its way leaves nothing behind", async () => {
  const engine = new MemoryEngine();
  const ledger = new EngineOwnerLedger(engine);
  const images = new EngineImageStore(new CutEngine(engine, {}, SMALL));
  const putting = images.put(ALICE, session, ID, data);
  await ledger.beginErasure(ALICE, new Date().toISOString());
  await expect(putting).rejects.toMatchObject({ code: "OWNER_ERASED" });
  await images.erase(ALICE);
  await expect(images.put(ALICE, session, ID, data)).rejects.toMatchObject({ code: "OWNER_ERASED" });
  expect(await images.residue(ALICE)).toBe(0);
  expect(await contentsOf(engine)).not.toContain("image");
});

test("an image whose message never came is swept a day later, where there is no such session", async () => {
  let nowMs = Date.parse("2026-03-01T10:00:00.000Z");
  const engine = new MemoryEngine({ clock: { now: () => new Date(nowMs) } });
  const images = new EngineImageStore(engine);
  const [there, gone] = [newId(), newId()];
  for (const each of [there, gone]) await images.put(ALICE, each, ID, data);
  await engine.commit(ownerPartition(ALICE), { id: "1", puts: [{ key: `session/${there}`, value: "{}" }] });
  expect(await images.sweep(ALICE)).toBe(0);
  nowMs += 2 * DAY_MS;
  expect(await images.sweep(ALICE)).toBe(1);
  expect([await images.get(ALICE, gone, ID), (await images.get(ALICE, there, ID))?.length]).toEqual([null, data.length]);
});
