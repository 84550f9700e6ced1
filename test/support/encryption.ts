import { join } from "node:path";
import { keysOfFile } from "../../src/state/encryption/key-file.js";
import { openEncrypted } from "../../src/state/encryption/open-encrypted.js";
import { sealedJournals } from "../../src/state/encryption/sealed-journals.js";
import type { StateEngine } from "../../src/state/engine.js";
import { SqliteEngine } from "../../src/state/engines/sqlite/sqlite-engine.js";

/** A master key as a file has it. */
export const MASTER_KEY = "0f".repeat(32);

/** An engine over `engine` whose data keys lie in a file in `dir`, or beside its values; with what seals journals. */
export async function encryptedForTest(engine: StateEngine, { dir }: { readonly dir?: string } = {}) {
  const home = dir === undefined ? engine : await SqliteEngine.open({ path: join(dir, "keyring.db") });
  const opened = await openEncrypted(engine, home, keysOfFile("key", MASTER_KEY));
  return {
    ...opened,
    home,
    seals: sealedJournals(opened.keyring),
    close: async () => {
      await engine.close();
      if (home !== engine) await home.close();
    },
  };
}
