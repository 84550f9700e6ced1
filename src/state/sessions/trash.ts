import { committed } from "../durable-commit.js";
import { prefixRange, type StateEngine } from "../engine.js";
import { TRASH, trashOf } from "./keys.js";

/** Rows that nobody refers to any more, or does not refer to yet: they go in pages, whoever finds them. */
interface TrashRow {
  readonly v: 1;
  /** They are being written and will be referred to. */
  readonly building: boolean;
  /** By the engine's clock. */
  readonly atMs: number;
  readonly prefixes: readonly string[];
}

/** Whoever builds for so long is gone, in milliseconds. */
const BUILT_WITHIN_MS = 60 * 60 * 1000;
/** Rows deleted by one commit: each may have to be read. */
const PAGE = 40;

/** `name`: of these rows alone, among the session's. */
export function trashPut(sessionId: string, name: string, row: Omit<TrashRow, "v">): { readonly key: string; readonly value: string } {
  return { key: trashKey(sessionId, name), value: JSON.stringify({ v: 1, ...row }) };
}

export function trashKey(sessionId: string, name: string): string {
  return trashOf(sessionId) + name;
}

/** Deletes what the trash names, of one session or of the whole partition. What is being built is left alone. Idempotent. */
export async function emptyTrash(engine: StateEngine, partition: string, sessionId?: string): Promise<void> {
  const range = prefixRange(sessionId === undefined ? TRASH : trashOf(sessionId));
  const { ranges, nowMs } = await engine.read(partition, { ranges: [range] });
  for (const { key, value, version } of ranges[0] ?? []) {
    const row = JSON.parse(value) as TrashRow;
    if (row.building && nowMs - row.atMs < BUILT_WITHIN_MS) continue;
    await discard(engine, partition, { key, version, row });
  }
}

/** Gives up what was being built. */
export async function discardBuilt(engine: StateEngine, partition: string, sessionId: string, name: string): Promise<void> {
  const key = trashKey(sessionId, name);
  const entry = (await engine.read(partition, { keys: [key] })).entries.get(key);
  if (entry !== undefined) await discard(engine, partition, { key, version: entry.version, row: JSON.parse(entry.value) as TrashRow });
}

async function discard(
  engine: StateEngine,
  partition: string,
  { key, version, row }: { readonly key: string; readonly version: number; readonly row: TrashRow },
): Promise<void> {
  // Whoever built it can't refer to it from here on.
  if (row.building) {
    const puts = [{ key, value: JSON.stringify({ ...row, building: false }) }];
    if (!(await committed(engine, partition, { checks: [{ key, version }], puts })).ok) return;
  }
  for (const prefix of row.prefixes) await deletePrefix(engine, partition, prefix);
  await committed(engine, partition, { deletes: [key] });
}

/** Deletes all keys with a prefix. Returns how many there were. */
export async function deletePrefix(engine: StateEngine, partition: string, prefix: string): Promise<number> {
  for (let count = 0; ; ) {
    const { ranges } = await engine.read(partition, { ranges: [{ ...prefixRange(prefix), limit: PAGE }] });
    const deletes = (ranges[0] ?? []).map(({ key }) => key);
    if (deletes.length > 0) await committed(engine, partition, { deletes });
    count += deletes.length;
    if (deletes.length < PAGE) return count;
  }
}
