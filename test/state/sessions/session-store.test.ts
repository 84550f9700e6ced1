import { systemClock } from "../../../src/platform/clock.js";
import { silentLogger } from "../../../src/platform/logger.js";
import { MemoryEngine } from "../../../src/state/engines/memory/memory-engine.js";
import { EngineImageStore } from "../../../src/state/images/images.js";
import { EngineOwnerLedger } from "../../../src/state/ledger/ledger.js";
import { EngineMemoryLog } from "../../../src/state/memory-log/memory-log.js";
import { engineSessionStore } from "../../../src/state/sessions/sessions.js";
import { replicasContract } from "../../contract/replicas.contract.js";
import { describeSessionNamesContract } from "../../contract/session-names.contract.js";
import { sessionStoreContract } from "../../contract/session-store.contract.js";
import { connectionTo } from "./connection.js";

const sessions = async () => {
  const engine = new MemoryEngine();
  const store = engineSessionStore(engine, { logger: silentLogger, clock: systemClock, images: new EngineImageStore(engine) });
  return { store, dispose: () => store.close() };
};

sessionStoreContract("an engine in memory", sessions);
describeSessionNamesContract("an engine in memory", sessions);
replicasContract("an engine in memory", async () => {
  const shared = new MemoryEngine();
  return {
    dispose: async () => {},
    open: async ({ leaseMs } = {}) => {
      const { engine, kill } = connectionTo(shared);
      const images = new EngineImageStore(engine);
      const options = { logger: silentLogger, clock: systemClock, images, ...(leaseMs !== undefined && { leaseMs }) };
      return {
        store: engineSessionStore(engine, options),
        ledger: new EngineOwnerLedger(engine),
        log: new EngineMemoryLog(engine),
        dispose: async () => kill(),
      };
    },
  };
});
