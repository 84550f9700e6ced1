import { resolve } from "node:path";
import type { Owner } from "../domain/owner.js";
import type { DomainToOpen } from "../gate/constraint-gate.js";
import type { CatchingUp } from "../operations/catching-up.js";
import { type Clock, systemClock } from "../platform/clock.js";
import { type FileSystem, nodeFileSystem } from "../platform/file-system.js";
import { loadedOnce } from "../platform/loaded-later.js";
import { type Logger, silentLogger } from "../platform/logger.js";
import type { Domain } from "../ports/agent.js";
import type { MakeLimiter } from "../ports/counters.js";
import type { EventLog, EventQueue } from "../ports/events.js";
import type { StorageHealth } from "../ports/health-history.js";
import type { MemoryLog } from "../ports/memory-log.js";
import { type Metrics, noMetrics } from "../ports/metrics.js";
import type { OwnerGate } from "../ports/owner-gate.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import type { SessionStore } from "../ports/session-store.js";
import type { SessionsBehind, SessionWriter } from "../ports/session-writer.js";
import type { PrivacyParts } from "../privacy/privacy.js";
import type { Keyring } from "../state/encryption/keyring.js";
import type { StateEngine } from "../state/engine.js";
import type { TurnRegistry } from "../turn/turn-registry.js";
import type { Overrides, Parts } from "./composed.js";
import type { Config } from "./config.js";
import { exampleProduct } from "./own-packages.js";
import { ByTenant, type TenantSettings } from "./tenants.js";

/** Registers what has to be closed, the last opened first. */
export type Closing = <T>(value: T, close: (value: T) => Promise<unknown> | unknown) => T;

/** What every concern is put together from. */
export interface Wiring {
  readonly config: Config;
  readonly overrides: Overrides;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly fileSystem: FileSystem;
  readonly around: NonNullable<Overrides["around"]>;
  /** Absolute. */
  readonly dir: string;
  /** Whether anything is kept on disk. */
  readonly kept: boolean;
  readonly closing: Closing;
  readonly metrics: Metrics;
  readonly tenants: ByTenant<TenantSettings>;
  /** The domain that is named, else the example. @throws INVALID_CONFIG where that can't be loaded */
  readonly product: () => Promise<Domain | DomainToOpen>;
}

export function wiringOf(
  config: Config,
  overrides: Overrides,
  closing: Closing,
  tenants: ByTenant<TenantSettings> = new ByTenant({}),
): Wiring {
  const { metrics = noMetrics, logger = silentLogger, clock = systemClock, fileSystem = nodeFileSystem, around = {} } = overrides;
  const kept = config.SHORT_TERM_BACKEND !== "memory";
  const dir = resolve(config.MEMORY_STORAGE_DIR);
  const product = loadedOnce(async () => overrides.domain ?? exampleProduct());
  return { config, overrides, logger, clock, fileSystem, around, dir, kept, closing, metrics, tenants, product };
}

/** What is to be closed, and how it is closed, the last opened first. */
export function closers(): { readonly closing: Closing; readonly closeAll: () => Promise<void> } {
  const open: (() => Promise<unknown> | unknown)[] = [];
  return {
    closing: (value, close) => {
      open.unshift(() => close(value));
      return value;
    },
    closeAll: async () => {
      for (const close of open.splice(0)) await close();
    },
  };
}

/** Puts together what a command works on, and closes it behind its work. */
export async function wired<T>(config: Config, overrides: Overrides, work: (wiring: Wiring) => Promise<T>): Promise<T> {
  const { closing, closeAll } = closers();
  try {
    return await work(wiringOf(config, overrides, closing));
  } finally {
    await closeAll();
  }
}

/** Of work behind answers. */
export function upkeepGate(registry: TurnRegistry): OwnerGate {
  return { begin: (owner) => registry.begin(owner, "upkeep") };
}

export function same<T>(value: T): T {
  return value;
}

/** What was said, and what is known of owners: the engine of state, and what is stored over it. */
export interface Stores {
  readonly engine: StateEngine;
  /** Null where nothing is encrypted. */
  readonly keyring: Keyring | null;
  readonly encryption: PrivacyParts["encryption"];
  readonly encryptedUnder: Parts["encryptedUnder"];
  readonly store: SessionStore;
  readonly storage: StorageHealth;
  readonly ledger: OwnerLedger;
  readonly memoryLog: MemoryLog;
  readonly events: EventLog;
  /** What of it is to be delivered. Empty where nothing is to be. */
  readonly eventQueue: EventQueue;
  readonly writer: SessionWriter;
  readonly lagging: SessionsBehind;
  readonly indexCatchUp: CatchingUp;
  readonly rebuildIndex: Parts["rebuildIndex"];
  /** Leaves no erased byte in the engine's files. Nothing to do where it keeps none here. */
  readonly scrub: () => Promise<void>;
  /** Counts requests for all processes: as many in so many seconds. Absent where there is no other. */
  readonly limiter?: MakeLimiter;
  /** The id of the installation, agreed by all processes, from the one that this process comes with. Absent where there is one. */
  readonly agreedInstallation?: (own: string) => Promise<string>;
  /** Runs work while no other process changes the owner's memories. Absent where there is no other. */
  readonly aloneWithMemories?: <T>(owner: Owner, work: () => Promise<T>) => Promise<T>;
}
