import type { MovableState } from "../ports/transfer.js";
import { committed } from "../state/durable-commit.js";
import type { StateEngine } from "../state/engine.js";
import { MOVE_PARTITION } from "./portable-entries.js";

const BEGUN = "begun";

interface BegunMove {
  readonly v: 1;
  /** Name of the source. */
  readonly from: string;
  readonly at: string;
}

/** Notes in the target that what it holds is of a move that is not whole. */
export async function beginMove(source: MovableState, target: MovableState, now: Date): Promise<void> {
  const begun: BegunMove = { v: 1, from: source.name, at: now.toISOString() };
  await committed(target.engine, MOVE_PARTITION, { puts: [{ key: BEGUN, value: JSON.stringify(begun) }] });
}

export async function endMove(target: MovableState): Promise<void> {
  await committed(target.engine, MOVE_PARTITION, { deletes: [BEGUN] });
}

/** From where the engine holds half of something; null where what it holds is whole. */
export async function halfMovedFrom(engine: StateEngine): Promise<string | null> {
  const entry = (await engine.read(MOVE_PARTITION, { keys: [BEGUN] })).entries.get(BEGUN);
  return entry === undefined ? null : (JSON.parse(entry.value) as BegunMove).from;
}
