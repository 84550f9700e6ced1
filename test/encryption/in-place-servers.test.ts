import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { backupsOf } from "../../src/compose/backups.js";
import type { Composed } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { encryptionOf } from "../../src/compose/encryption-commands.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import { CANARY, tell } from "../support/a-life.js";
import { byWords } from "../support/by-words.js";
import { MASTER_KEY } from "../support/encryption.js";
import { needing } from "../support/needing.js";
import { openPlace, startIn } from "./everything.js";
import { STATE_SERVERS } from "./servers.js";

const alice = ownerOf("default", "alice");
const bob = ownerOf("default", "bob");
const quiet = { signal: new AbortController().signal, onProgress: () => {} };
const NEXT_KEY = "2d".repeat(32);

/** What an owner has, as they would see it. */
async function has(application: Composed, owner: Owner): Promise<string> {
  const { data: sessions } = await application.sessions.list(owner, {});
  const messages = await Promise.all(sessions.map(({ id }) => application.sessions.messages(owner, id, {})));
  const found = await application.history.search(owner, { query: CANARY });
  const { data: memories } = await application.memories.list(owner, {});
  return JSON.stringify([messages.map(({ data }) => data), found.map(({ content }) => content), memories.map(({ text }) => text)]);
}
const NOTHING = "[[],[],[]]";

/** PostgreSQL is met in `in-place.test.ts`, and Firestore's limits are Cosmos DB's. */
for (const { program, name, open } of STATE_SERVERS.filter((each) => each.program === "redis" || each.program === "cosmos"))
  needing(program)(name, () => {
    test("[sealed-at-rest] [erased-by-key] [backup-whole] encrypted in place, under a key that is rotated, backed up, erased and decrypted again", async () => {
      const { base, dir } = await openPlace();
      const server = await open();
      onTestFinished(async () => {
        await server.close();
        await rm(base, { recursive: true, force: true });
      });
      const key = join(base, "master.key");
      // Vectors in files: sealed vectors are met there and beside the state elsewhere, and cost a service most of what is asked of it here.
      const here = { ...server.variables, MEM0_PROVIDER: "local", MEMORY_STORAGE_DIR: dir, RECALL_DEADLINE_MS: "20000" };
      const there = { ...here, ...server.another, MEMORY_STORAGE_DIR: join(base, "there") };
      const without = { ENCRYPTION_KEY_FILE: "" };
      const commands = (env: Record<string, string>) => encryptionOf(parseConfig(byWords({ ENCRYPTION_KEY_FILE: key, ...env })));
      const backups = (env: Record<string, string>) => backupsOf(parseConfig(byWords({ ENCRYPTION_KEY_FILE: key, ...env })));

      const clear = await startIn(base, { ...here, ...without });
      await tell(clear, alice, `I prefer ${CANARY} and jazz.`);
      await tell(clear, bob, `I prefer ${CANARY} and opera.`);
      const before = [await has(clear, alice), await has(clear, bob)];
      expect(before).toEqual([expect.stringContaining("jazz"), expect.stringContaining("opera")]);
      await clear.close({ drainMs: 5_000 });

      const { values, points } = await commands(here).encrypt(quiet);
      expect(Math.min(values, points)).toBeGreaterThan(3);
      expect(await commands(here).encrypt(quiet)).toMatchObject({ values: 0, points: 0 });

      await expect(startIn(base, { ...here, ...without })).rejects.toThrow(/not set, .* is encrypted \(data key [0-9a-f]{12}\)/);
      await writeFile(key, NEXT_KEY);
      await expect(startIn(base, here)).rejects.toThrow(/encrypted under master key [0-9a-f]{12}; .* holds [0-9a-f]{12}/);
      await writeFile(key, `${NEXT_KEY}\n${MASTER_KEY}\n`);
      expect(await commands(here).rotate(quiet)).toBe(3);
      await writeFile(key, MASTER_KEY);
      await expect(startIn(base, here)).rejects.toThrow(/encrypted under master key/);
      await writeFile(key, NEXT_KEY);

      const sealed = await startIn(base, here);
      expect([await has(sealed, alice), await has(sealed, bob)]).toEqual(before);
      expect(await backups(here).backUp(join(base, "backup"), quiet)).toMatchObject({ holds: { users: 2 }, encrypted: true });
      const { destroyed_keys: destroyed = [] } = await sealed.privacy.erase(alice, { by: "user" });
      expect(destroyed.length).toBeGreaterThan(0);
      await sealed.close({ drainMs: 5_000 });

      await expect(backups(there).restore(join(base, "backup"), quiet)).rejects.toThrow(/encrypted under data key [0-9a-f]{12}, which/);
      await commands(here).save(join(base, "saved"));
      expect(await commands(there).load(join(base, "saved"))).toBeGreaterThan(0);
      expect(await backups(there).restore(join(base, "backup"), quiet)).toMatchObject({ differences: [] });
      const restored = await startIn(base, there);
      expect([await has(restored, alice), (await restored.sessions.list(bob, {})).data.length]).toEqual([NOTHING, 1]);
      await restored.close({ drainMs: 0 });

      await commands(here).decrypt(quiet);
      const again = await startIn(base, { ...here, ...without });
      await again.parts.reindex({ signal: quiet.signal } as never);
      expect([await has(again, alice), await has(again, bob)]).toEqual([NOTHING, before[1]]);
      await again.close({ drainMs: 0 });
    }, 300_000);
  });
