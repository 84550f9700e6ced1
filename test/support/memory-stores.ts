import { type Clock, systemClock } from "../../src/platform/clock.js";
import { type Logger, silentLogger } from "../../src/platform/logger.js";
import type { StateEngine } from "../../src/state/engine.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { EngineEventLog } from "../../src/state/events/events.js";
import { EngineImageStore } from "../../src/state/images/images.js";
import { EngineOwnerLedger } from "../../src/state/ledger/ledger.js";
import { EngineMemoryLog } from "../../src/state/memory-log/memory-log.js";
import { engineSessionStore } from "../../src/state/sessions/sessions.js";

interface MemoryStoresOptions {
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Default: one of its own. */
  readonly engine?: StateEngine;
}

/** Sessions in memory, gone with the test. */
export function memorySessionStore({ clock = systemClock, logger = silentLogger, engine = new MemoryEngine() }: MemoryStoresOptions = {}) {
  const events = new EngineEventLog(engine, { queued: false, logger });
  return Object.assign(engineSessionStore(engine, { logger, clock, images: new EngineImageStore(engine), events }), { engine, events });
}

/** A ledger in memory. */
export class InMemoryOwnerLedger extends EngineOwnerLedger {
  readonly engine: StateEngine;

  constructor(engine: StateEngine = new MemoryEngine()) {
    super(engine);
    this.engine = engine;
  }
}

/** A memory log that heeds the erasures of its ledger. */
export class InMemoryMemoryLog extends EngineMemoryLog {
  constructor(ledger: InMemoryOwnerLedger) {
    super(ledger.engine);
  }
}
