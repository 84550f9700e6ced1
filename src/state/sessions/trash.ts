import { committed } from "../durable-commit.js";
import { prefixRange, type StateEngine, type StoredEntry } from "../engine.js";
import { jsonOf, rowAt, rowsIn } from "../stored-rows.js";
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
  for (const entry of ranges[0] ?? []) {
    const row = jsonOf<TrashRow>(entry);
    if (row.building && nowMs - row.atMs < BUILT_WITHIN_MS) continue;
    await discard(engine, partition, entry);
  }
}

/** Gives up what was being built. */
export async function discardBuilt(engine: StateEngine, partition: string, sessionId: string, name: string): Promise<void> {
  const key = trashKey(sessionId, name);
  const entry = await rowAt(engine, partition, key);
  if (entry !== undefined) await discard(engine, partition, entry);
}

async function discard(engine: StateEngine, partition: string, entry: StoredEntry): Promise<void> {
  const { key, version } = entry;
  const row = jsonOf<TrashRow>(entry);
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
    const deletes = (await rowsIn(engine, partition, { ...prefixRange(prefix), limit: PAGE })).map(({ key }) => key);
    if (deletes.length > 0) await committed(engine, partition, { deletes });
    count += deletes.length;
    if (deletes.length < PAGE) return count;
  }
}
