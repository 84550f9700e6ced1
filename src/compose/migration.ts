import { type MigrateOptions, type MigrationReport, migrate } from "../operations/migrate.js";
import { leasesIn } from "../operations/migration-checks.js";
import { DirectoryLock } from "../platform/directory-lock.js";
import { AppError, isAppError } from "../platform/errors.js";
import type { Logger } from "../platform/logger.js";
import type { MovableState, StateBackend } from "../ports/transfer.js";
import { EngineEventLog } from "../state/events/events.js";
import { EngineImageStore } from "../state/images/images.js";
import { openFileSessionStore } from "../state/jsonl/file-session-store.js";
import { lockKey } from "../state/sessions/keys.js";
import { LEASE_MS, leaseKey } from "../state/sessions/leased-lock.js";
import { engineSessionStore } from "../state/sessions/sessions.js";
import type { Config } from "./config.js";
import { openEngine } from "./engine.js";
import { BEING_MOVED } from "./shared-engine.js";
import { type Wiring, wiringOf } from "./wiring.js";

/** Beyond the lease of a move that was killed, in milliseconds. */
const BEYOND_LEASE_MS = 2_000;

interface OpenedState {
  readonly state: MovableState;
  /** Aborts when the store is not held any more. */
  readonly lost?: AbortSignal;
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
  const closers: (() => Promise<unknown> | unknown)[] = [];
  const wiring = wiringOf(config, { logger }, (value, close) => {
    closers.unshift(() => close(value));
    return value;
  });
  try {
    const source = await openState(wiring, backends.from);
    const target = await openState(wiring, backends.to);
    const lost = [source, target].flatMap((opened) => (opened.lost === undefined ? [] : [opened.lost]));
    const signal = AbortSignal.any([options.signal, ...lost]);
    // In the order in which things happened, which is the order of their commits.
    await new EngineEventLog(source.state.engine, { queued: config.WEBHOOK_URL !== undefined, logger }).catchUpAll(signal);
    return await migrate(source.state, target.state, { ...options, signal, now: wiring.clock.now() });
  } finally {
    for (const close of closers) await close();
  }
}

/** Opens what a backend keeps, and holds it against everybody else. @throws STORAGE_IN_USE, INVALID_CONFIG */
export async function openState(wiring: Wiring, backend: StateBackend): Promise<OpenedState> {
  if (backend === "postgres") require(wiring.config.DATABASE_URL, "DATABASE_URL");
  if (backend === "redis") require(wiring.config.REDIS_URL, "REDIS_URL");
  const { config, logger, clock, fileSystem, dir, closing } = wiring;
  if (backend === "file") closing(await DirectoryLock.acquire(dir, clock.now()), (lock) => lock.release());
  const engine = closing(await openEngine({ ...wiring, config: { ...config, SHORT_TERM_BACKEND: backend } }), (it) => it.close());
  const images = new EngineImageStore(engine);
  if (backend === "file") {
    const files = closing(await openFileSessionStore({ dir, engine, images, logger, clock, fileSystem }), (it) => it.close());
    await files.catchUp();
    return { state: { name: dir, engine, journals: { keptIn: "files", store: files.journal }, leases: async () => new Map() } };
  }
  const { locks, journal } = engineSessionStore(engine, { logger, clock, images });
  const { name } = engine.manifest;
  try {
    const lease = closing(await locks.acquire(BEING_MOVED, { waitMs: LEASE_MS + BEYOND_LEASE_MS }), (it) => it.release());
    const leases = () => leasesIn(engine, lockKey(leaseKey(BEING_MOVED)));
    return { lost: lease.signal, state: { name, engine, journals: { keptIn: "rows", store: journal }, leases } };
  } catch (error) {
    if (!isAppError(error, "SESSION_BUSY")) throw error;
    throw new AppError("STORAGE_IN_USE", { detail: `${name} is being moved by another command.`, hint: "Let it end.", cause: error });
  }
}

function require(url: string | undefined, variable: string): void {
  if (url === undefined) throw new AppError("INVALID_CONFIG", { detail: `${variable}: needed by this move.`, hint: `Set ${variable}.` });
}
