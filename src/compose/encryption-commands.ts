import { open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Owner } from "../domain/owner.js";
import { leasesIn, requireUnused } from "../operations/migration-checks.js";
import { type Resealed, renewKey } from "../operations/renew-key.js";
import { resealPartition } from "../operations/reseal.js";
import { DirectoryLock } from "../platform/directory-lock.js";
import { AppError } from "../platform/errors.js";
import { type Logger, silentLogger } from "../platform/logger.js";
import type { RenewedSeal } from "../ports/key-vault.js";
import { committed } from "../state/durable-commit.js";
import { sealedUnder } from "../state/encryption/data-key.js";
import { type Changing, EncryptedEngine } from "../state/encryption/encrypted-engine.js";
import { INSTALLATION_KEYS, KEYS, Keyring } from "../state/encryption/keyring.js";
import { keysRowSchema } from "../state/encryption/keys-row.js";
import { markOf, putMark, requireKeys, requireVectors } from "../state/encryption/open-encrypted.js";
import { sealedJournals } from "../state/encryption/sealed-journals.js";
import type { StateEngine } from "../state/engine.js";
import { FileMemoryService } from "../state/jsonl/file-memory-service.js";
import { JournalDirectory } from "../state/jsonl/journal-directory.js";
import { leaseKey, lockKey } from "../state/sessions/keys.js";
import { partitionPages } from "../state/stored-rows.js";
import { renewPoints as renewPointsOf, sealPoints } from "../vectors/encrypted/reseal-points.js";
import { MEMORY_COLLECTION } from "../vectors/mem0/collections.js";
import { openVectors } from "./backends.js";
import type { Config } from "./config.js";
import { HISTORY_COLLECTION } from "./embedders.js";
import { KEYRING_FILE, keyringFile, sealedVectors, vaultOf } from "./encryption.js";
import { aloneWithMemories, BEING_MOVED, heldWhole, holdOwnersKey, openEngine, RENEWED_WAIT_MS } from "./engine.js";
import { eventLogOf, stateInRows } from "./migration.js";
import { same, type Wiring, wired } from "./wiring.js";

export interface EncryptionOptions {
  readonly signal: AbortSignal;
  /** Of partitions. */
  readonly onProgress: (done: number) => void;
}

/**
 * What is done to encryption as a whole; servers are stopped, but for {@link EncryptionCommands.rotate} and
 * {@link EncryptionCommands.renew} of several on one database.
 */
export interface EncryptionCommands {
  /** Encrypts all that is kept, in place. Broken off, the same again goes on. */
  encrypt(options: EncryptionOptions): Promise<Resealed>;
  /** The reverse; then the keys go, and with them what backups were encrypted under. Vectors go too, to be made anew. */
  decrypt(options: EncryptionOptions): Promise<Resealed>;
  /** Wraps all data keys by the first master key of the file. Writes no value. How many partitions' were wrapped by another. */
  rotate(options: EncryptionOptions): Promise<number>;
  /**
   * Encrypts all of an owner's under a new data key, and destroys the one before once nothing is left under it. Broken off, the same again
   * goes on.
   */
  renew(owner: Owner, options: EncryptionOptions): Promise<Resealed>;
  /** Copies the keyring, wrapped as it is, to a file that is not there yet. How many partitions have keys. */
  save(path: string): Promise<number>;
  /** Takes in keys of a file that {@link save} made, but for those destroyed since. How many. */
  load(path: string): Promise<number>;
}

const savedLine = z.object({ partition: z.string(), row: keysRowSchema });

interface Held {
  readonly stored: StateEngine;
  readonly home: StateEngine;
  readonly keyring: Keyring;
}

/** Of what the configuration names. @throws INVALID_REQUEST for what nothing but its own process holds, INVALID_CONFIG without a key */
export function encryptionOf(config: Config, { logger = silentLogger }: { readonly logger?: Logger } = {}): EncryptionCommands {
  const inFiles = config.SHORT_TERM_BACKEND === "file";
  if (config.SHORT_TERM_BACKEND === "memory")
    throw new AppError("INVALID_REQUEST", { detail: "With SHORT_TERM_BACKEND=memory nothing is kept.", hint: "Set another one." });
  const run = <T>(work: (wiring: Wiring, held: Held) => Promise<T>): Promise<T> =>
    wired(config, { logger }, async (wiring) => {
      const vault = await vaultOf(wiring);
      if (vault === null)
        throw new AppError("INVALID_CONFIG", {
          detail: "ENCRYPTION_KEY_FILE: needed, or ENCRYPTION_KMS_KEY.",
          hint: "Name the file with the master key, or a key of KMS.",
        });
      const { closing, dir, clock } = wiring;
      const stored = closing(await openEngine(wiring), (it) => it.close());
      if (inFiles) closing(await DirectoryLock.acquire(dir, clock.now()), (lock) => lock.release());
      const home = inFiles ? await keyringFile(wiring, join(dir, KEYRING_FILE)) : stored;
      return work(wiring, { stored, home, keyring: new Keyring(vault, home) });
    });

  /** Nobody else uses it while work is done. Values read in clear; what is written is as it is to be. */
  const alone = async <T>(
    wiring: Wiring,
    { stored, keyring }: Held,
    changing: Changing,
    options: EncryptionOptions,
    work: (engine: StateEngine, options: EncryptionOptions) => Promise<T>,
  ): Promise<T> => {
    const engine = new EncryptedEngine(stored, keyring, changing);
    if (inFiles) return work(engine, options);
    const { name } = stored.manifest;
    const { locks } = stateInRows(wiring, engine, name);
    const lease = await heldWhole(locks, name);
    const signal = AbortSignal.any([options.signal, lease.signal]);
    try {
      await requireUnused({ name, leases: () => leasesIn(engine, lockKey(leaseKey(BEING_MOVED))) }, signal);
      return await work(engine, { ...options, signal });
    } finally {
      await lease.release();
    }
  };

  const resealAll = async (
    { stored }: Held,
    engine: StateEngine,
    isDone: (partition: string, key: string, value: string) => Promise<boolean>,
    { signal, onProgress }: EncryptionOptions,
  ): Promise<number> => {
    let [values, done] = [0, 0];
    for await (const page of partitionPages(engine, null, 500))
      for (const { partition } of page) {
        values += await resealPartition({ stored, engine, isDone, deletesLost: true }, partition, signal);
        onProgress(++done);
      }
    return values;
  };

  const rewriteJournals = async (
    { dir, fileSystem }: Wiring,
    { keyring }: Held,
    changing: Changing | null,
    only?: Owner,
  ): Promise<number> => {
    if (!inFiles) return 0;
    const journals = await FileMemoryService.open({ dir, fileSystem, logger, seals: sealedJournals(keyring, changing) });
    const names = new JournalDirectory(dir, fileSystem);
    const left = new Set(await names.sessionIds());
    let rewritten = 0;
    try {
      for await (const { owner, sessionId } of journals.list()) {
        left.delete(sessionId);
        if (only !== undefined && owner !== only) continue;
        const isPacked = (await fileSystem.stat(names.path(sessionId, "packed"))) !== null;
        await journals.rewrite(owner, sessionId, (record) => record);
        if (isPacked) await journals.compress(owner, sessionId);
        rewritten += 1;
      }
    } finally {
      await journals.close();
    }
    for (const id of left) {
      const isEmpty = (await fileSystem.stat(names.path(id, "journal")))?.size === 0;
      if (isEmpty || (only !== undefined && (await names.filesOf(id, only)) === 0)) left.delete(id);
    }
    if (left.size === 0) return rewritten;
    throw new AppError("STORAGE_DAMAGED", {
      detail: `Whose these journals are can't be read, so that they stay as they were: ${[...left].join(", ")}.`,
      hint: "Mend their first lines, or move the files elsewhere, and run the same again: it goes on.",
    });
  };

  /** Those beside the state: what lies with it is sealed with it. */
  const vectorsOf = async ({ closing, dir }: Wiring, { keyring, stored: engine }: Held) => {
    const { memory, history, compact } = await openVectors(config, dir, same, { closing, logger, engine });
    const sealed = sealedVectors(config, keyring);
    const all = [
      { in: config.MEM0_PROVIDER, name: MEMORY_COLLECTION, store: memory },
      { in: config.HISTORY_BACKEND, name: HISTORY_COLLECTION, store: history },
    ];
    const beside = all.flatMap(({ in: where, name, store }) => (store === null || where === "state" ? [] : [{ name, store }]));
    const collections = beside.map(({ name, store }) => ({ name, stored: store.client, sealing: sealed(store).client }));
    return { collections, compact };
  };

  return {
    encrypt: (given) =>
      run(async (wiring, held) => {
        const { stored, keyring } = held;
        const mark = await markOf(stored);
        if (mark !== null) await requireKeys(keyring, mark, stored);
        const { id } = await keyring.kept(INSTALLATION_KEYS);
        const key = mark?.key ?? id;
        // They stay sealed: only taking all of it away makes them clear.
        if (mark?.vectors === true) requireVectors(mark, config.ENCRYPT_VECTORS);
        const vectors = config.ENCRYPT_VECTORS;
        await putMark(stored, { key, doing: "encrypt", vectors: mark?.vectors ?? false });
        return alone(wiring, held, "encrypt", given, async (engine, options) => {
          await eventLogOf(wiring, engine).catchUpAll(options.signal);
          const values = await resealAll(held, engine, async (_partition, _key, value) => sealedUnder(value) !== null, options);
          const journals = await rewriteJournals(wiring, held, "encrypt");
          const { collections, compact } = await vectorsOf(wiring, held);
          let points = 0;
          const { signal } = options;
          for (const each of collections)
            points += await sealPoints(each, each.name, { which: vectors ? "with a clear vector" : "clear", signal });
          await compact();
          await stored.scrub?.();
          await putMark(stored, { key, vectors });
          return { values, journals, points };
        });
      }),
    decrypt: (given) =>
      run(async (wiring, held) => {
        const { stored, home, keyring } = held;
        const mark = await markOf(stored);
        if (mark !== null) await requireKeys(keyring, mark, stored);
        if (mark !== null) await putMark(stored, { ...mark, doing: "decrypt" });
        const done = await alone(wiring, held, "decrypt", given, async (engine, options) => {
          await eventLogOf(wiring, engine).catchUpAll(options.signal);
          const values = await resealAll(held, engine, async (_partition, _key, value) => sealedUnder(value) === null, options);
          const journals = await rewriteJournals(wiring, held, "decrypt");
          const { collections, compact } = await vectorsOf(wiring, held);
          for (const { name, stored: client } of mark === null ? [] : collections)
            if ((await client.collectionExists(name)).exists) await client.deleteCollection(name);
          await compact();
          return { values, journals, points: 0 };
        });
        if (home === stored)
          for await (const { partition } of keyring.rows())
            if (partition !== INSTALLATION_KEYS) await committed(home, partition, { deletes: [KEYS] });
        await putMark(stored, null);
        await stored.scrub?.();
        if (home === stored) return done;
        await home.close();
        for (const end of ["", "-wal", "-shm"]) await rm(join(wiring.dir, `${KEYRING_FILE}${end}`), { force: true });
        return done;
      }),
    rotate: ({ signal, onProgress }) =>
      run(async (_wiring, { stored, home, keyring }) => {
        const mark = await markOf(stored);
        if (mark !== null) await requireKeys(keyring, mark, stored);
        let [rewrapped, done] = [0, 0];
        for await (const { partition } of keyring.rows()) {
          signal.throwIfAborted();
          if (await keyring.rewrap(partition)) rewrapped += 1;
          onProgress(++done);
        }
        await home.scrub?.();
        return rewrapped;
      }),
    renew: (owner, given) =>
      run(async (wiring, held) => {
        const { stored, keyring } = held;
        const engine = new EncryptedEngine(stored, keyring);
        const locks = inFiles ? null : stateInRows(wiring, engine, stored.manifest.name).locks;
        const lost = locks === null ? [] : [(await holdOwnersKey(locks, wiring, owner)).signal];
        const signal = AbortSignal.any([given.signal, ...lost]);
        const mark = await markOf(stored);
        if (mark === null || mark.doing !== undefined)
          throw new AppError("INVALID_REQUEST", {
            detail: `${stored.manifest.name} is not encrypted as a whole.`,
            hint: "Run `maitred encrypt` first.",
          });
        await requireKeys(keyring, mark, stored);
        const events = eventLogOf(wiring, engine);
        const { collections, compact } = await vectorsOf(wiring, held);
        const memories = locks && aloneWithMemories(locks, RENEWED_WAIT_MS);
        const alone = memories && { alone: <T>(work: () => Promise<T>) => memories(owner, work) };
        const renewPoints = async (seal: RenewedSeal) => {
          let points = 0;
          for (const { name, stored: client } of collections)
            points += await renewPointsOf({ name, client, ...(name === MEMORY_COLLECTION && alone) }, { owner, seal, signal });
          return points;
        };
        const publish = () => events.catchUp(owner);
        const journals = () => rewriteJournals(wiring, held, null, owner);
        const done = await renewKey({ stored, engine, keyring, publish, renewPoints, rewriteJournals: journals }, owner, signal);
        await compact();
        await stored.scrub?.();
        given.onProgress(1);
        return done;
      }),
    save: (path) =>
      run(async (_wiring, { keyring }) => {
        const file = await open(path, "wx", 0o600);
        try {
          let saved = 0;
          for await (const { partition, row } of keyring.rows()) {
            await file.write(`${JSON.stringify({ partition, row })}\n`);
            saved += 1;
          }
          await file.sync();
          return saved;
        } finally {
          await file.close();
        }
      }),
    load: (path) =>
      run(async (_wiring, { stored, keyring }) => {
        const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
        const saved = lines.map((line) => savedLine.parse(JSON.parse(line)));
        const isNew = (await markOf(stored)) === null && (await stored.partitions({ limit: 1 })).length === 0;
        let taken = 0;
        for (const { partition, row } of saved) taken += await keyring.take(partition, row);
        const { keys, row } = await keyring.of(INSTALLATION_KEYS);
        if (isNew && keys.size > 0) await putMark(stored, { key: row.keys.at(-1)?.id ?? "", vectors: config.ENCRYPT_VECTORS });
        return taken;
      }),
  };
}
