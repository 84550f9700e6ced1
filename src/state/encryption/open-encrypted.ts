import { z } from "zod";
import { AppError } from "../../platform/errors.js";
import { invalidConfig } from "../../platform/invalid-config.js";
import type { KeyVault } from "../../ports/key-vault.js";
import { committed } from "../durable-commit.js";
import { prefixRange, type StateEngine } from "../engine.js";
import { RECEIPTS, receiptOf } from "../ledger/ledger-values.js";
import { isOwnersPartition } from "../partition.js";
import { type Changing, EncryptedEngine } from "./encrypted-engine.js";
import { INSTALLATION_KEYS, KEYS, Keyring } from "./keyring.js";

/** Beside the values, in clear. */
const MARK = "encrypted";

const markSchema = z.object({
  v: z.literal(1),
  /** Id of the installation's data key. */
  key: z.string(),
  /** What is under way: some values are encrypted, and some are not. */
  doing: z.enum(["encrypt", "decrypt"] satisfies Changing[]).exactOptional(),
  /** Whether dense vectors are sealed too. */
  vectors: z.boolean().default(false),
});
export type Mark = z.infer<typeof markSchema>;

export interface Encrypted {
  readonly engine: EncryptedEngine;
  readonly keyring: Keyring;
}

/** That an engine's values are encrypted; null: they are not. */
export async function markOf(engine: StateEngine): Promise<Mark | null> {
  const entry = (await engine.read(INSTALLATION_KEYS, { keys: [MARK] })).entries.get(MARK);
  return entry === undefined ? null : markSchema.parse(JSON.parse(entry.value));
}

/** Null: they are not encrypted any more, and the installation's keys go. */
export async function putMark(engine: StateEngine, mark: Omit<Mark, "v"> | null): Promise<void> {
  const change = mark === null ? { deletes: [MARK, KEYS] } : { puts: [{ key: MARK, value: JSON.stringify({ v: 1, ...mark }) }] };
  await committed(engine, INSTALLATION_KEYS, change);
}

/** @throws INVALID_CONFIG where an engine's values are encrypted */
export async function requireClear(engine: StateEngine): Promise<void> {
  const mark = await markOf(engine);
  if (mark === null) return;
  const detail = `ENCRYPTION_KEY_FILE: not set, nor ENCRYPTION_KMS_KEY, and ${engine.manifest.name} is encrypted (data key ${mark.key}).`;
  throw invalidConfig([{ pointer: "/ENCRYPTION_KEY_FILE", detail }], {
    hint: "Set the one that holds its master key; `maitred decrypt` takes the encryption away. Nothing was changed.",
  });
}

/**
 * Any engine with its values encrypted, under data keys that lie in `home`: the same engine, or one beside it. One that holds nothing is
 * encrypted from now on. @throws INVALID_CONFIG for another master key, another keyring, and where values are in clear; nothing is changed
 */
export async function openEncrypted(
  engine: StateEngine,
  home: StateEngine,
  vault: KeyVault,
  { vectors = false }: { readonly vectors?: boolean } = {},
): Promise<Encrypted> {
  const keyring = new Keyring(vault, home);
  const mark = await markOf(engine);
  if (mark?.doing !== undefined || (mark === null && (await engine.partitions({ limit: 1 })).length > 0)) {
    const command = `maitred ${mark?.doing ?? "encrypt"}`;
    throw new AppError("INVALID_CONFIG", {
      detail: `A master key is set, and ${engine.manifest.name} is not encrypted${mark === null ? "" : " as a whole"}.`,
      hint: `Run \`${command}\`, which goes on where it was broken off${mark === null ? ", or set no master key" : ""}.`,
    });
  }
  if (mark !== null) await requireKeys(keyring, mark, engine);
  if (mark !== null) requireVectors(mark, vectors);
  const { id } = await keyring.kept(INSTALLATION_KEYS);
  if (mark === null) await putMark(engine, { key: id, vectors });
  const encrypted = new EncryptedEngine(engine, keyring);
  keyring.toldDestroyed = async (partition) => {
    if (!isOwnersPartition(partition)) return [];
    const [receipts = []] = (await encrypted.read(partition, { ranges: [prefixRange(RECEIPTS)] })).ranges;
    return receipts.flatMap(({ value }) => receiptOf(value).destroyed_keys ?? []);
  };
  return { engine: encrypted, keyring };
}

/** A copy, encrypted under the keys of what it is a copy of; as it is where it was made in clear. @throws INVALID_CONFIG */
export async function openCopy(engine: StateEngine, keyring: Keyring | null): Promise<StateEngine> {
  if (keyring === null) {
    await requireClear(engine);
    return engine;
  }
  const mark = await markOf(engine);
  if (mark !== null) await requireKeys(keyring, mark, engine);
  else if ((await engine.partitions({ limit: 1 })).length > 0) return engine;
  else await putMark(engine, { key: (await keyring.kept(INSTALLATION_KEYS)).id, vectors: false });
  return new EncryptedEngine(engine, keyring);
}

/** @throws INVALID_CONFIG where dense vectors are sealed and are not to be, or the reverse */
export function requireVectors({ vectors: sealed }: Mark, wanted: boolean): void {
  if (sealed === wanted) return;
  throw new AppError("INVALID_CONFIG", {
    detail: `ENCRYPT_VECTORS: ${wanted}, and dense vectors are ${sealed ? "encrypted" : "in clear"}.`,
    hint: sealed
      ? "Set it to true; `maitred decrypt`, and `maitred encrypt` with false, take it back. Nothing was changed."
      : "Run `maitred encrypt` with it. Nothing was changed.",
  });
}

export async function requireKeys(keyring: Keyring, { key }: Mark, engine: StateEngine): Promise<void> {
  if ((await keyring.of(INSTALLATION_KEYS)).keys.has(key)) return;
  throw new AppError("INVALID_CONFIG", {
    detail: `${engine.manifest.name} is encrypted under data key ${key}, which ${keyring.home.manifest.name} does not hold.`,
    hint: "Bring back the keyring that belongs to it (`maitred keys load`). Nothing was changed.",
  });
}
