import type { MemoryOperation } from "../long-term.js";
import type { Owner } from "../owner.js";
import { isId } from "../platform/ids.js";
import type { Filter } from "../vectors.js";
import { isAny, type MemoryPoints } from "./memory-points.js";
import type { MemoryRecord } from "./record.js";

/** All memories that operations can touch: those they name, those of their messages, and those of every category they write in. */
export async function concernedBy(points: MemoryPoints, owner: Owner, operations: readonly MemoryOperation[]): Promise<MemoryRecord[]> {
  if (operations.length === 0) return [];
  const categories = operations.flatMap((operation) =>
    "statement" in operation && operation.statement !== null ? [operation.statement.category] : [],
  );
  const ids = operations.flatMap((operation) => [
    ...("memory_id" in operation ? [operation.memory_id] : []),
    ...("target_id" in operation ? [operation.target_id] : []),
  ]);
  const messageIds = operations.map(({ source }) => source.message_id);
  const first = await points.collect(owner, concerning(categories, ids, messageIds), { count: 0 });
  // A target that is confirmed stands in a slot of its own category.
  const more = first.map((record) => record.category).filter((category) => !categories.includes(category));
  if (more.length === 0) return first;
  const beside = await points.collect(owner, concerning(more, [], []), { count: 0 });
  return [...new Map([...first, ...beside].map((record) => [record.id, record])).values()];
}

/** Memories of these categories, with these ids, or from these messages. */
export function concerning(categories: readonly string[], ids: readonly string[], messageIds: readonly string[]): Filter {
  return {
    should: [
      ...(categories.length === 0 ? [] : [isAny("category", [...new Set(categories)])]),
      ...(ids.length === 0 ? [] : [{ has_id: ids.filter(isId) }]),
      ...(messageIds.length === 0 ? [] : [isAny("source_message_id", [...new Set(messageIds)])]),
    ],
  };
}
