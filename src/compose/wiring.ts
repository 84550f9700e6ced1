import { resolve } from "node:path";
import type { DomainToOpen } from "../gate/constraint-gate.js";
import { type Clock, systemClock } from "../platform/clock.js";
import { type FileSystem, nodeFileSystem } from "../platform/file-system.js";
import { loadedOnce } from "../platform/loaded-later.js";
import { type Logger, silentLogger } from "../platform/logger.js";
import type { Domain } from "../ports/agent.js";
import { type Metrics, noMetrics } from "../ports/metrics.js";
import type { OwnerGate } from "../ports/owner-gate.js";
import type { TurnRegistry } from "../turn/turn-registry.js";
import type { Overrides } from "./composed.js";
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
