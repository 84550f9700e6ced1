import { afterAll, beforeAll } from "vitest";
import { EngineBookings } from "../../packages/concierge/src/engine-bookings.js";
import { systemClock } from "../../src/platform/clock.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { StateEngine } from "../../src/state/engine.js";
import { EngineEventQueue } from "../../src/state/events/event-queue.js";
import { EngineEventLog } from "../../src/state/events/events.js";
import { EngineImageStore } from "../../src/state/images/images.js";
import { EngineOwnerLedger } from "../../src/state/ledger/ledger.js";
import { EngineMemoryLog } from "../../src/state/memory-log/memory-log.js";
import { engineSessionStore } from "../../src/state/sessions/sessions.js";
import { describeBookingStoreContract } from "../contract/booking-store.contract.js";
import { describeEventLogContract } from "../contract/event-log.contract.js";
import { imageStoreContract } from "../contract/image-store.contract.js";
import { memoryLogContract } from "../contract/memory-log.contract.js";
import { ownerLedgerContract } from "../contract/owner-ledger.contract.js";
import { replicasContract } from "../contract/replicas.contract.js";
import { describeSessionNamesContract } from "../contract/session-names.contract.js";
import { sessionStoreContract } from "../contract/session-store.contract.js";
import { type EngineHome, EVERY_ENGINE } from "./engines/every-engine.js";

function sessionsOf(engine: StateEngine, more: { readonly events?: EngineEventLog; readonly leaseMs?: number } = {}) {
  return engineSessionStore(engine, { logger: silentLogger, clock: systemClock, images: new EngineImageStore(engine), ...more });
}

/** The contracts of all stores, over one engine. A file for each, or two: files are run side by side. */
export function storesOver(engine: (typeof EVERY_ENGINE)[number]["name"]): void {
  const { name, shared, home: openHome } = EVERY_ENGINE.find((each) => each.name === engine) ?? EVERY_ENGINE[0];
  let home: EngineHome;
  beforeAll(async () => {
    home = await openHome();
  }, 60_000);
  afterAll(() => home.close());
  const over = async <T>(make: (engine: StateEngine) => T) => {
    const fresh = await home.fresh();
    return { ...make(await fresh.open()), dispose: () => fresh.dispose() };
  };

  const sessions = () => over((engine) => ({ store: sessionsOf(engine) }));
  sessionStoreContract(name, sessions);
  describeSessionNamesContract(name, sessions);
  ownerLedgerContract(name, () => over((engine) => ({ ledger: new EngineOwnerLedger(engine) })));
  memoryLogContract(name, () => over((engine) => ({ log: new EngineMemoryLog(engine), ledger: new EngineOwnerLedger(engine) })));
  imageStoreContract(name, () => over((engine) => ({ images: new EngineImageStore(engine) })));
  describeBookingStoreContract(name, async () => {
    const fresh = await home.fresh();
    const sellers = [new EngineBookings(await fresh.open()), new EngineBookings(await fresh.open())] as const;
    return { sellers, dispose: () => fresh.dispose() };
  });
  describeEventLogContract(name, () =>
    over((engine) => {
      const log = new EngineEventLog(engine, { queued: true });
      const queue = new EngineEventQueue(engine, { clock: systemClock, log });
      return { log, queue, writer: sessionsOf(engine, { events: log }).journal, memoryLog: new EngineMemoryLog(engine, log) };
    }),
  );
  if (shared)
    replicasContract(name, async () => {
      const fresh = await home.fresh();
      return {
        dispose: () => fresh.dispose(),
        open: async ({ leaseMs } = {}) => {
          const engine = await fresh.open();
          const store = sessionsOf(engine, leaseMs === undefined ? {} : { leaseMs });
          const [ledger, log] = [new EngineOwnerLedger(engine), new EngineMemoryLog(engine)];
          return { store, ledger, log, dispose: () => engine.close() };
        },
      };
    });
}
