import { type MigrateOptions, type MigrationReport, migrate } from "../operations/migrate.js";
import { leasesIn } from "../operations/migration-checks.js";
import { DirectoryLock } from "../platform/directory-lock.js";
import { AppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { TurnLock } from "../ports/session-store.js";
import type { MovableState, StateBackend } from "../ports/transfer.js";
import type { Keyring } from "../state/encryption/keyring.js";
import { sealedJournals } from "../state/encryption/sealed-journals.js";
import type { StateEngine } from "../state/engine.js";
import { EngineEventLog } from "../state/events/events.js";
import { EngineImageStore } from "../state/images/images.js";
import { openFileSessionStore } from "../state/jsonl/file-session-store.js";
import { leaseKey, lockKey } from "../state/sessions/keys.js";
import { engineSessionStore } from "../state/sessions/sessions.js";
import type { Config } from "./config.js";
import { encrypted } from "./encryption.js";
import { BEING_MOVED, heldWhole, openEngine } from "./engine.js";
import { ADDRESSES } from "./state-variables.js";
import { type Wiring, wired } from "./wiring.js";

interface OpenedState {
  readonly state: MovableState;
  /** Aborts when the store is not held any more. */
  readonly lost: AbortSignal;
  /** Null: it is not encrypted. */
  readonly keyring: Keyring | null;
}

/**
 * Moves all state from the one backend to the other, both as the configuration names them, and holds them meanwhile.
 * @throws INVALID_CONFIG, STORAGE_IN_USE, TARGET_NOT_EMPTY, STORAGE_UNAVAILABLE, ABORTED
 */
export async function migrateState(
  config: Config,
  backends: { readonly from: StateBackend; readonly to: StateBackend },
  { logger, ...options }: Omit<MigrateOptions, "now"> & { readonly logger: Logger },
): Promise<MigrationReport> {
  return wired(config, { logger }, async (wiring) => {
    const source = await openState(wiring, backends.from);
    const target = await openState(wiring, backends.to);
    const signal = AbortSignal.any([options.signal, source.lost, target.lost]);
    // Vectors stay where they are, sealed under these.
    if (source.keyring !== null && target.keyring !== null)
      for await (const { partition, row } of source.keyring.rows()) await target.keyring.take(partition, row);
    await eventLogOf(wiring, source.state.engine).catchUpAll(signal);
    return migrate(source.state, target.state, { ...options, signal, now: wiring.clock.now() });
  });
}

/** Opens what a backend keeps, and holds it against everybody else. @throws STORAGE_IN_USE, INVALID_CONFIG */
export async function openState(wiring: Wiring, backend: StateBackend): Promise<OpenedState> {
  for (const variable of ADDRESSES[backend])
    if (wiring.config[variable] === undefined)
      throw new AppError("INVALID_CONFIG", { detail: `${variable}: needed by this move.`, hint: `Set ${variable}.` });
  const { config, logger, clock, fileSystem, dir, closing } = wiring;
  if (backend === "file") closing(await DirectoryLock.acquire(dir, clock.now()), (lock) => lock.release());
  const stored = closing(await openEngine({ ...wiring, config: { ...config, SHORT_TERM_BACKEND: backend } }), (it) => it.close());
  const { engine, keyring } = await encrypted(wiring, stored, backend === "file");
  if (backend === "file") {
    const images = new EngineImageStore(engine);
    const seals = keyring && sealedJournals(keyring);
    const files = closing(await openFileSessionStore({ dir, engine, images, logger, clock, fileSystem, seals }), (it) => it.close());
    await files.catchUp();
    const state = { name: dir, engine, journals: { keptIn: "files", store: files.journal }, leases: async () => new Map() } as const;
    return { state, keyring, lost: new AbortController().signal };
  }
  const { name } = engine.manifest;
  const { locks, state } = stateInRows(wiring, engine, name);
  const lease = closing(await heldWhole(locks, name), (it) => it.release());
  const leases = () => leasesIn(engine, lockKey(leaseKey(BEING_MOVED)));
  return { lost: lease.signal, keyring, state: { ...state, leases } };
}

/** Publishes outboxes before they are written anew: in the order in which things happened, which is the order of their commits. */
export function eventLogOf({ config, logger }: Wiring, engine: StateEngine): EngineEventLog {
  return new EngineEventLog(engine, { queued: config.WEBHOOK_URL !== undefined, logger });
}

/** What an engine holds with its journals, while nobody else uses it. */
export function stateInRows({ logger, clock }: Wiring, engine: StateEngine, name: string): { state: MovableState; locks: TurnLock } {
  const { journal, locks } = engineSessionStore(engine, { logger, clock, images: new EngineImageStore(engine) });
  return { state: { name, engine, journals: { keptIn: "rows", store: journal }, leases: async () => new Map() }, locks };
}
