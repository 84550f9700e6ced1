import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ownerHash } from "../../src/domain/owner.js";
import { type FileSystem, nodeFileSystem } from "../../src/platform/file-system.js";
import { newId } from "../../src/platform/ids.js";
import { FileImageStore } from "../../src/stores/files/file-image-store.js";
import { InMemoryImageStore } from "../../src/stores/memory/in-memory-image-store.js";
import { imageStoreContract } from "../../src/testing/image-store-contract.js";
import { ALICE } from "../../src/testing/journal-records.js";
import { FaultyFileSystem } from "../support/faulty-file-system.js";
import { IMAGE_ID, PNG } from "../support/samples.js";
import { UnsyncedFileSystem } from "../support/unsynced-file-system.js";

async function directory(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-images-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  return dir;
}

async function onDisk(fileSystem: () => FileSystem = () => nodeFileSystem) {
  const dir = await mkdtemp(join(tmpdir(), "maitred-images-"));
  return { images: await FileImageStore.open({ dir, fileSystem: fileSystem() }), dispose: () => rm(dir, { recursive: true }) };
}

imageStoreContract("files", () => onDisk());
imageStoreContract("files on a disk that forgets", () => onDisk(() => new UnsyncedFileSystem()));
imageStoreContract("memory", async () => ({ images: new InMemoryImageStore(), dispose: async () => {} }));

const filesIn = async (dir: string) => (await readdir(join(dir, "images"), { recursive: true })).filter((name) => name.includes("."));

test("an image that was kept is there after a power cut", async () => {
  const dir = await directory();
  const session = newId();
  await writeFile(join(dir, `${session}.jsonl`), "");
  const disk = new UnsyncedFileSystem();
  const images = await FileImageStore.open({ dir, fileSystem: disk });
  await images.put(ALICE, session, IMAGE_ID, PNG);
  disk.crash();
  const again = await FileImageStore.open({ dir, fileSystem: new UnsyncedFileSystem() });
  expect(Buffer.from((await again.get(ALICE, session, IMAGE_ID)) ?? [])).toEqual(PNG);
});

test("what a crash left is swept at the next start: images of sessions without a journal, and halves", async () => {
  const dir = await directory();
  const [kept, packed, gone] = [newId(), newId(), newId()];
  const images = await FileImageStore.open({ dir, fileSystem: nodeFileSystem });
  for (const session of [kept, packed, gone]) await images.put(ALICE, session, IMAGE_ID, PNG);
  await writeFile(join(dir, `${kept}.jsonl`), "");
  await writeFile(join(dir, `${packed}.jsonl.gz`), "");
  await writeFile(join(dir, "images", ownerHash(ALICE), `${kept}.${"ab".repeat(32)}.tmp`), "half");
  await mkdir(join(dir, "images", "not-ours"));
  const again = await FileImageStore.open({ dir, fileSystem: nodeFileSystem });
  expect((await filesIn(dir)).map((name) => name.split("/").at(-1)).sort()).toEqual(
    [`${kept}.${IMAGE_ID}`, `${packed}.${IMAGE_ID}`].sort(),
  );
  expect(await again.get(ALICE, gone, IMAGE_ID)).toBeNull();
});

test("[journal-full-disk] a full disk is told, leaves no half, and the next try works", async () => {
  const dir = await directory();
  const disk = new FaultyFileSystem(nodeFileSystem);
  const images = await FileImageStore.open({ dir, fileSystem: disk });
  const session = newId();
  disk.inject({ operation: "write", errno: "ENOSPC", afterBytes: 4 });
  await expect(images.put(ALICE, session, IMAGE_ID, PNG)).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
  expect([await images.get(ALICE, session, IMAGE_ID), await images.residue(ALICE)]).toEqual([null, 0]);
  disk.assertAllStruck();
  await images.put(ALICE, session, IMAGE_ID, PNG);
  expect(await images.get(ALICE, session, IMAGE_ID)).not.toBeNull();
});

test("only ids become part of a path", async () => {
  const images = await FileImageStore.open({ dir: await directory(), fileSystem: nodeFileSystem });
  await expect(images.get(ALICE, "../x", IMAGE_ID)).rejects.toMatchObject({ code: "INVALID_SESSION_ID" });
  await expect(images.get(ALICE, newId(), "../../x")).rejects.toMatchObject({ code: "INVALID_ID" });
});
