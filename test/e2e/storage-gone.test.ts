import { rm } from "node:fs/promises";
import { expect, test } from "vitest";
import { nodeFileSystem } from "../../src/platform/file-system.js";
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
