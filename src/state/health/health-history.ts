import type { HealthHistory } from "../../ports/health-history.js";
import type { Readiness } from "../../ports/resources.js";
import type { HealthChange } from "../../ports/studio-views.js";
import type { StateEngine } from "../engine.js";
import { optimisticChange, unchanged } from "../optimistic-commit.js";
import { systemPartition } from "../partition.js";
import { jsonOf, rowAt } from "../stored-rows.js";

const PARTITION = systemPartition("health");
const RING = "ring";
const MOST = 200;

/** A ring of changes. What parts say of themselves in words stays out: it may name what it is about. */
export class EngineHealthHistory implements HealthHistory {
  readonly #engine: StateEngine;

  constructor(engine: StateEngine) {
    this.#engine = engine;
  }

  async noted({ status, parts }: Readiness, at: Date): Promise<void> {
    const change: HealthChange = {
      at: at.toISOString(),
      status,
      parts: Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, part.status])),
    };
    await optimisticChange(this.#engine, PARTITION, { keys: [RING] }, (read) => {
      const ring = jsonOf<readonly HealthChange[]>(read.entries.get(RING)) ?? [];
      if (ring[0] !== undefined && isSame(ring[0], change)) return null;
      return { checks: unchanged(read, RING), puts: [{ key: RING, value: JSON.stringify([change, ...ring].slice(0, MOST)) }] };
    });
  }

  async all(): Promise<readonly HealthChange[]> {
    return jsonOf<readonly HealthChange[]>(await rowAt(this.#engine, PARTITION, RING)) ?? [];
  }
}

function isSame({ at: _, ...before }: HealthChange, { at: _at, ...now }: HealthChange): boolean {
  return JSON.stringify(before) === JSON.stringify(now);
}
