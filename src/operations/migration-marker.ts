import { AppError } from "../platform/errors.js";
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
export async function halfMovedFrom(engine: Pick<StateEngine, "read">): Promise<string | null> {
  const entry = (await engine.read(MOVE_PARTITION, { keys: [BEGUN] })).entries.get(BEGUN);
  return entry === undefined ? null : (JSON.parse(entry.value) as BegunMove).from;
}

/** @throws STORAGE_IN_USE where a move to this engine was broken off: going on with it would take what is written now */
export async function requireWhole(engine: Pick<StateEngine, "read">, name: string): Promise<void> {
  const source = await halfMovedFrom(engine);
  if (source === null) return;
  throw new AppError("STORAGE_IN_USE", {
    detail: `${name} holds half of a move from ${source}.`,
    hint: "Run the same `maitred migrate`, or `maitred restore`, again until it has ended.",
  });
}
