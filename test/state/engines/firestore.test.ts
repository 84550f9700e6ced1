import { afterAll, beforeAll } from "vitest";
import { silentLogger } from "../../../src/platform/logger.js";
import { FirestoreEngine } from "../../../src/state/engines/firestore/firestore-engine.js";
import { stateEngineContract } from "../../../src/testing/state-engine-contract.js";
import { type FirestoreEmulator, openFirestoreEmulator } from "../../support/firestore-emulator.js";
import { needing } from "../../support/needing.js";

needing("firestore")("Firestore", () => {
  let emulator: FirestoreEmulator;
  let projects = 0;
  beforeAll(async () => {
    emulator = await openFirestoreEmulator();
  }, 60_000);
  afterAll(() => emulator.close());

  /** Each test has a database of its own. */
  const make = async () => {
    projects += 1;
    const project = `test-${projects}`;
    const opened: FirestoreEngine[] = [];
    const open = async () => {
      const engine = await FirestoreEngine.open({ project, database: "(default)", emulator: emulator.host, logger: silentLogger });
      opened.push(engine);
      return engine;
    };
    const dispose = async () => {
      await Promise.all(opened.map((engine) => engine.close()));
    };
    return { engine: await open(), open, dispose, project };
  };

  stateEngineContract("Firestore", make);
});
