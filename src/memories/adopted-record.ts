import { HAPPENED } from "../domain/made-of.js";
import type { MemorySource } from "../domain/memory.js";
import { byStated, type MemoryRecord } from "../domain/memory-record.js";
import { happenedId, mergedId } from "../domain/owned-ids.js";
import { isId } from "../platform/ids.js";
import type { MergedUsers } from "../ports/merged-memories.js";

/** The id that a record of `from` has as `to`'s. What the domain reports of `to` from now on has the same, and so is there already. */
export function adoptedId({ id: mergeId, to }: MergedUsers, record: MemoryRecord): string {
  if (record.type === "episodic" && record.tags.includes(HAPPENED)) return happenedId(to, record.aspect);
  return mergedId("memory", to, mergeId, record.id);
}

/** Records of `from` as `to`'s, oldest first. The story is told anew. Pure. */
export function adoptedRecords(users: MergedUsers, records: Iterable<MemoryRecord>): MemoryRecord[] {
  const all = [...records].filter(({ type }) => type !== "narrative");
  const ids = new Map(all.map((record) => [record.id, adoptedId(users, record)]));
  const idOf = (id: string) => ids.get(id) ?? mergedId("memory", users.to, users.id, id);
  const sourceOf = (source: MemorySource | null) =>
    source === null ? null : { ...source, session_id: mergedId("session", users.to, users.id, source.session_id) };
  const adopted = all.map((record): MemoryRecord => {
    const { pending_change: change } = record;
    return {
      ...record,
      id: idOf(record.id),
      source: sourceOf(record.source),
      pending_change: change === null ? null : { ...change, source: sourceOf(change.source) },
      superseded_by: record.superseded_by === null ? null : idOf(record.superseded_by),
      entities: record.entities.map((entity) => (isId(entity) ? idOf(entity) : entity)),
    };
  });
  return adopted.sort(byStated);
}
