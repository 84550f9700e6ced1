import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { type Owner, ownerOf } from "../../src/domain/owner.js";
import { aLife, CANARY, filesWith } from "../support/a-life.js";
import { byWords } from "../support/by-words.js";
import { MASTER_KEY } from "../support/encryption.js";

const CHILD = fileURLToPath(new URL("./encrypting.ts", import.meta.url));
const users = Array.from({ length: 4 }, (_, n) => ownerOf("default", `guest${n}`));
/** How much later each is killed than the one before it, in milliseconds. */
const STEP_MS = 60;

test("[sealed-at-rest] encrypting in place that is killed again and again, ever later, ends with all encrypted and nothing lost", {
  timeout: 180_000,
}, async () => {
  const base = await mkdtemp(join(tmpdir(), "maitred-killed-"));
  const [dir, key] = [join(base, "storage"), join(base, "key")];
  await writeFile(key, MASTER_KEY);
  const open = (env: Record<string, string>) =>
    compose(parseConfig(byWords({ MEMORY_STORAGE_DIR: dir, RECALL_DEADLINE_MS: "5000", ...env })));
  const of = async (application: Awaited<ReturnType<typeof open>>, owner: Owner) => {
    const { data: sessions } = await application.sessions.list(owner, {});
    const messages = await Promise.all(sessions.map(async ({ id }) => (await application.sessions.messages(owner, id, {})).data));
    const found = (await application.history.search(owner, { query: `${CANARY} dog` })).map(({ content }) => content).sort();
    return { sessions, messages, found, memories: (await application.memories.list(owner, {})).data };
  };
  try {
    const clear = await open({});
    for (const owner of users) await aLife(clear, owner);
    const before = await Promise.all(users.map((owner) => of(clear, owner)));
    await clear.close({ drainMs: 5_000 });
    let kills = 0;
    for (let delay = 0; ; delay += STEP_MS) {
      const child = spawn(process.execPath, ["--import", "tsx", CHILD, dir, key], { stdio: ["ignore", "pipe", "inherit"] });
      const ended = once(child, "exit");
      // From its first partition on.
      await once(child.stdout, "data");
      const timer = setTimeout(() => child.kill("SIGKILL"), delay);
      const [code] = await ended;
      clearTimeout(timer);
      if (code === 0) break;
      expect(code).toBeNull();
      kills += 1;
      const start = await open({ ENCRYPTION_KEY_FILE: key }).catch((error: unknown) => String(error));
      if (typeof start === "string") expect(start).toMatch(/is not encrypted as a whole/);
      else {
        // It had only to end.
        await start.close({ drainMs: 0 });
        break;
      }
    }
    expect(kills).toBeGreaterThan(2);
    const after = await open({ ENCRYPTION_KEY_FILE: key });
    expect(await Promise.all(users.map((owner) => of(after, owner)))).toEqual(before);
    await after.close({ drainMs: 5_000 });
    expect(await filesWith(dir, CANARY)).toEqual([]);
  } finally {
    await rm(base, { recursive: true });
  }
});
