import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { maintenanceOf } from "../../src/cli/maintenance-of.js";
import { compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { run } from "../cli/run.js";
import { byWords } from "../support/by-words.js";
import { MASTER_KEY } from "../support/encryption.js";

test("doctor says by the store itself whether it is encrypted, and under which key, also where none is set", async () => {
  const base = await mkdtemp(join(tmpdir(), "maitred-doctor-"));
  onTestFinished(() => rm(base, { recursive: true, force: true }));
  const file = join(base, "master.key");
  await writeFile(file, MASTER_KEY);
  const doctor = (name: string, env: Record<string, string> = {}) =>
    run(["doctor"], {
      parts: {
        readConfig: () => parseConfig(byWords({ MEMORY_STORAGE_DIR: join(base, name), ...env })),
        open: async (config) => {
          const application = await compose(config);
          return { application, maintenance: maintenanceOf(application.parts) };
        },
      },
    });

  expect((await doctor("clear")).stdout).toContain("✓ Encryption: off: what is kept is in clear\n");
  const on = await doctor("sealed", { ENCRYPTION_KEY_FILE: file });
  const [, id] = /✓ Encryption: on \(key id ([0-9a-f]{12})\), under the master key in .*master\.key\n/.exec(on.stdout) ?? [];
  expect(id).toBeDefined();
  const keyless = await doctor("sealed");
  expect(keyless.code).toBe(6);
  expect(keyless.stdout).toContain("✗ Encryption: on, and no key is set: ");
  expect(keyless.stdout).toContain(`is encrypted (data key ${id})`);
});
