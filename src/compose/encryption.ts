import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Owner } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import { invalidConfig, wrongVariable } from "../platform/invalid-config.js";
import type { KeyVault } from "../ports/key-vault.js";
import type { VectorStore } from "../ports/vectors.js";
import type { PrivacyParts } from "../privacy/privacy.js";
import { isKmsKey, openAwsKms } from "../state/encryption/aws-kms.js";
import { DestroyedValues } from "../state/encryption/destroyed-values.js";
import { keysOfFile } from "../state/encryption/key-file.js";
import { Keyring } from "../state/encryption/keyring.js";
import { openEncrypted, requireClear } from "../state/encryption/open-encrypted.js";
import { sealedOwners } from "../state/encryption/sealed-journals.js";
import type { StateEngine } from "../state/engine.js";
import { intentVersion } from "../state/ledger/ledger.js";
import { ownerPartition } from "../state/partition.js";
import { denseInMemory } from "../vectors/encrypted/dense-in-memory.js";
import { encryptedVectors } from "../vectors/encrypted/encrypted-vectors.js";
import type { Config } from "./config.js";
import { openSqlite } from "./engine.js";
import { same, type Wiring } from "./wiring.js";

/** Data keys of what lies in a directory, beside it and in no backup. */
export const KEYRING_FILE = "keyring.db";

export interface MaybeEncrypted {
  readonly engine: StateEngine;
  /** Null: nothing is encrypted. */
  readonly keyring: Keyring | null;
}

/** By ENCRYPTION_KMS_KEY and ENCRYPTION_KEY_FILE, or the caller's. @throws INVALID_CONFIG, STORAGE_UNAVAILABLE */
export async function vaultOf({ config, overrides, logger }: Pick<Wiring, "config" | "overrides" | "logger">): Promise<KeyVault | null> {
  if (overrides.keyVault !== undefined) return overrides.keyVault;
  const { ENCRYPTION_KMS_KEY: key, ENCRYPTION_KEY_FILE: path, STARTUP_WAIT_MS: startupWaitMs } = config;
  const inFile = path === undefined ? null : await fileVault(path);
  if (key === undefined) return inFile;
  const kms = await openAwsKms({ key, startupWaitMs, logger });
  // What a file's key wrapped is still unwrapped, until `maitred keys rotate` has been.
  return inFile === null ? kms : { ...kms, unwrap: (wrapped, of) => (isKmsKey(of.keyId) ? kms : inFile).unwrap(wrapped, of) };
}

/** How long this process may hold keys of who was erased by another and is not looked at here any more, in milliseconds. */
const ERASURES_MS = 60_000;

function followErasures(keyring: Keyring, { closing, logger }: Wiring): void {
  const look = () => keyring.dropErased().catch((err: unknown) => logger.warn({ err }, "Erasures by other processes can't be looked up"));
  closing(setInterval(look, ERASURES_MS).unref(), clearInterval);
}

async function fileVault(path: string): Promise<KeyVault> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw wrongVariable("ENCRYPTION_KEY_FILE", "can't be read", cause);
  });
  return keysOfFile(path, text);
}

/**
 * The engine as everything above it has it. `inFiles`: its keys lie in a file beside it, as they are needed for what lies beside it too.
 * @throws INVALID_CONFIG where it is encrypted and there is no key, or another one
 */
export async function encrypted(wiring: Wiring, engine: StateEngine, inFiles: boolean): Promise<MaybeEncrypted> {
  const vault = await vaultOf(wiring);
  const path = join(wiring.dir, KEYRING_FILE);
  const vectors = wiring.config.ENCRYPT_VECTORS;
  if (vault !== null) {
    const opened = await openEncrypted(engine, inFiles ? await keyringFile(wiring, path) : engine, vault, { vectors });
    if (!inFiles && engine.manifest.shared) followErasures(opened.keyring, wiring);
    return opened;
  }
  if (vectors)
    throw new AppError("INVALID_CONFIG", {
      detail: "ENCRYPT_VECTORS: true, and there is no master key.",
      hint: "Set ENCRYPTION_KEY_FILE or ENCRYPTION_KMS_KEY too.",
    });
  await requireClear(engine);
  // The state may have been lost, and journals are left.
  if (inFiles && (await stat(path).catch(() => null)) !== null) {
    const detail = `ENCRYPTION_KEY_FILE: not set, nor ENCRYPTION_KMS_KEY, and ${path} is there: what lies beside it is encrypted.`;
    const hint = "Set ENCRYPTION_KEY_FILE to the file with its master key, or ENCRYPTION_KMS_KEY to the key of KMS.";
    throw invalidConfig([{ pointer: "/ENCRYPTION_KEY_FILE", detail }], { hint });
  }
  return { engine, keyring: null };
}

/** A store of vectors, or several, with what they hold sealed. */
export function sealedVectors({ ENCRYPT_VECTORS, VECTOR_CACHE_MIB }: Config, keyring: Keyring): (store: VectorStore) => VectorStore {
  const seals = sealedOwners(keyring);
  const dense = ENCRYPT_VECTORS ? denseInMemory(VECTOR_CACHE_MIB * 2 ** 20) : same;
  return (store) => dense(encryptedVectors(store, seals));
}

/** What an erasure destroys first, and what it looks for at the end. `stored`: the engine as it stores values. */
export function erasedBy({ engine, keyring }: MaybeEncrypted, stored: StateEngine): PrivacyParts["encryption"] {
  if (keyring === null) return undefined;
  const keys = {
    destroy: async (owner: Owner, receiptId: string) => {
      // Keys in a file beside are one process's own: nobody else can have ended the erasure.
      if (!keyring.isIn(stored)) return keyring.destroy(ownerPartition(owner));
      const intent = await intentVersion(engine, owner, receiptId);
      return intent === null ? null : keyring.destroy(ownerPartition(owner), intent);
    },
    forget: (owner: Owner) => keyring.forget(ownerPartition(owner)),
  };
  return { keys, left: new DestroyedValues(stored, keyring) };
}

/** A directory's keys while its server may be running: read from the file as it is, and never written. Null: nothing is encrypted. */
export async function keyringInUse(wiring: Wiring): Promise<Keyring | null> {
  const vault = await vaultOf(wiring);
  if (vault === null) return null;
  const path = join(wiring.dir, KEYRING_FILE);
  const { SqliteEngine } = await import("../state/engines/sqlite/sqlite-engine.js");
  const home = wiring.closing(await SqliteEngine.open({ path, readOnly: true }), (it) => it.close());
  return new Keyring(vault, home);
}

export async function keyringFile(wiring: Wiring, path: string): Promise<StateEngine> {
  return wiring.closing(await openSqlite(wiring, path), (it) => it.close());
}
