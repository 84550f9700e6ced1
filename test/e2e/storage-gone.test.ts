import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { statementSchema } from "../../src/domain/memory.js";
import { nodeFileSystem } from "../../src/platform/file-system.js";
import { STATE_FILE } from "../../src/state/jsonl/state-file.js";
import { World } from "../memory-e2e/world.js";
import { FaultyFileSystem } from "../support/faulty-file-system.js";

test("[journal-full-disk] [ready-means-ready] /readyz is down while no turn can be kept, and ok when one was", async () => {
  const disk = new FaultyFileSystem(nodeFileSystem);
  const world = await World.open({}, { fileSystem: disk });
  const ada = world.guest();
  await ada.asks("Good evening.");
  disk.inject({ operation: "write", errno: "ENOSPC", times: Number.POSITIVE_INFINITY });
  await expect(ada.asks("Any jazz tonight?")).rejects.toMatchObject({
    code: "STORAGE_UNAVAILABLE",
    hint: expect.stringContaining("free space"),
  });
  const full = await world.app.readiness();
  expect(full).toMatchObject({ status: "down", parts: { short_term: { status: "down", detail: expect.stringContaining("free space") } } });
  disk.heal();
  await ada.asks("Any jazz tonight?");
  expect((await world.app.readiness()).parts.short_term).toEqual({ status: "ok" });
  await world.close();
});

test("[degradation-honest] a storage directory that is gone: turns are refused, and /readyz says so", async () => {
  const world = await World.open();
  const ada = world.guest();
  await ada.asks("Good evening.");
  await ada.flush();
  await rm(world.app.info.storageDir, { recursive: true });
  await expect(ada.asks("Any jazz tonight?")).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
  await expect(world.guest("bob").asks("Good evening.")).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
  expect(await world.app.readiness()).toMatchObject({ status: "down", parts: { short_term: { status: "down" } } });
  await world.close();
});

test("[ready-means-ready] state.db moved away under a server: no memory is taken and lost; back, all that was said is there", async () => {
  const world = await World.open();
  const ada = world.guest();
  await ada.says("Good evening.");
  const addJazz = () =>
    world.app.memories.add(ada.owner, statementSchema.parse({ text: "Likes jazz", category: "genre" }), { now: world.clock.now() });
  const file = join(world.app.info.storageDir, STATE_FILE);
  await rename(file, `${file}.away`);
  await expect(addJazz()).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE", message: expect.stringContaining("gone") });
  expect(await world.app.readiness()).toMatchObject({ status: "down", parts: { short_term: { detail: expect.stringContaining("gone") } } });
  // What was said lies in a journal beside it.
  await ada.asks("I prefer matinees.");
  await rename(`${file}.away`, file);
  await vi.waitFor(async () => expect((await world.app.readiness()).parts.short_term).toEqual({ status: "ok" }), 20_000);
  await addJazz();
  await ada.flush();
  expect(await ada.holds()).toEqual(["Likes jazz", expect.stringMatching(/matinees/)]);
  await world.close();
});
