import { AppError } from "../../platform/errors.js";
import type { KeyVault } from "../../ports/key-vault.js";
import { committed } from "../durable-commit.js";
import type { StateEngine } from "../engine.js";
import { EncryptedEngine } from "./encrypted-engine.js";
import { INSTALLATION_KEYS, Keyring } from "./keyring.js";

/** Beside the values: that they are encrypted, and the id of the installation's data key. */
const MARK = "encrypted";

export interface Encrypted {
  readonly engine: StateEngine;
  readonly keyring: Keyring;
}

/** The id of the data key that an engine's own values are encrypted under; null where they are not. */
export async function encryptedUnder(engine: StateEngine): Promise<string | null> {
  return (await engine.read(INSTALLATION_KEYS, { keys: [MARK] })).entries.get(MARK)?.value ?? null;
}

/** @throws INVALID_CONFIG where an engine's values are encrypted */
export async function requireClear(engine: StateEngine): Promise<void> {
  const id = await encryptedUnder(engine);
  if (id === null) return;
  throw new AppError("INVALID_CONFIG", {
    detail: `ENCRYPTION_KEY_FILE: not set, and ${engine.manifest.name} is encrypted (data key ${id}).`,
    hint: "Set ENCRYPTION_KEY_FILE to the file with its master key; `maitred decrypt` takes the encryption away. Nothing was changed.",
  });
}

/**
 * Any engine with its values encrypted, under data keys that lie in `home`: the same engine, or one beside it.
 * @throws INVALID_CONFIG for another master key, or another keyring; nothing is changed then
 */
export async function openEncrypted(engine: StateEngine, home: StateEngine, vault: KeyVault): Promise<Encrypted> {
  const keyring = new Keyring(vault, home);
  const marked = await encryptedUnder(engine);
  const { keys } = await keyring.of(INSTALLATION_KEYS);
  if (marked !== null && !keys.has(marked))
    throw new AppError("INVALID_CONFIG", {
      detail: `${engine.manifest.name} is encrypted under data key ${marked}, which ${home.manifest.name} does not hold.`,
      hint: "Bring back the keyring that belongs to it (`maitred keys load`). Nothing was changed.",
    });
  const { id } = await keyring.kept(INSTALLATION_KEYS);
  if (marked === null) await mark(engine, id);
  return { engine: new EncryptedEngine(engine, keyring), keyring };
}

async function mark(engine: StateEngine, id: string): Promise<void> {
  await committed(engine, INSTALLATION_KEYS, { puts: [{ key: MARK, value: id }] });
}
