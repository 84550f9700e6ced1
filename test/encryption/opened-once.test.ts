import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { afterAll, expect, test, vi } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { NotAuthentic } from "../../src/state/encryption/data-key.js";
import { keysOfFile } from "../../src/state/encryption/key-file.js";
import { Keyring } from "../../src/state/encryption/keyring.js";
import { sealedJournals, sealedOwners } from "../../src/state/encryption/sealed-journals.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { ownerPartition } from "../../src/state/partition.js";

const opening = vi.spyOn(crypto, "createDecipheriv");
syncBuiltinESMExports();
afterAll(() => {
  opening.mockRestore();
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

test("[erased-by-key] of what a destroyed key sealed nothing is held in clear", async () => {
  const { own, key } = await keyring();
  const sealed = key.seal("a gluten allergy", "here");
  await own.destroy(partition);
  own.forget(partition);
  opening.mockClear();
  key.open(sealed, "here");
  expect(opening).toHaveBeenCalledTimes(1);
});
