import { committed } from "../durable-commit.js";
import type { StateEngine } from "../engine.js";
import { systemPartition } from "../partition.js";

const FILES = systemPartition("files");
const REBUILD = "rebuild";

/** There as long as an index may have more than its journals, or only some of what they have: it is to be made anew from them. */
export class RebuildMarker {
  readonly #engine: StateEngine;

  constructor(engine: StateEngine) {
    this.#engine = engine;
  }

  async isThere(): Promise<boolean> {
    return (await this.#engine.read(FILES, { keys: [REBUILD] })).entries.has(REBUILD);
  }

  async leave(): Promise<void> {
    await committed(this.#engine, FILES, { puts: [{ key: REBUILD, value: "true" }] });
  }

  async take(): Promise<void> {
    await committed(this.#engine, FILES, { deletes: [REBUILD] });
  }
}
