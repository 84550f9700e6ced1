import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import type { VectorClient } from "../../ports/vectors.js";
import { type MemoryPoints, owned } from "./memory-points.js";
import { BY_TYPE, type MemoryRouter } from "./memory-router.js";

/**
 * Deletes all memories of an owner, whatever their state, and looks that none is left. Mem0's own collections are searched
 * too: ours never fill them, another program on the same server may have.
 * @returns how many points there were, and how many events of their history
 */
export async function erasePoints(client: VectorClient, points: MemoryPoints, router: MemoryRouter, owner: Owner) {
  const memories = await points.count(owner);
  let history_entries = 0;
  if (memories > 0) for await (const record of points.scan(owner, {}, { count: 0 })) history_entries += record.events.length;
  await points.delete(owner, {});
  for (const collection of await sideCollections(client, router)) await client.delete(collection, { filter: owned(owner, {}), wait: true });
  const left = await residueOf(client, points, router, owner);
  if (left > 0) throw new AppError("LONG_TERM_MEMORY_UNAVAILABLE", { detail: `${left} memories are still there after their deletion.` });
  return { memories, history_entries };
}

export async function residueOf(client: VectorClient, points: MemoryPoints, router: MemoryRouter, owner: Owner): Promise<number> {
  let left = await points.count(owner);
  for (const collection of await sideCollections(client, router))
    left += (await client.count(collection, { filter: owned(owner, {}), exact: true })).count;
  return left;
}

/** Mem0's own, half-made copies, and those of a configuration that was, whoever filled them. */
async function sideCollections(client: VectorClient, router: MemoryRouter): Promise<string[]> {
  const own = router.collections();
  const former = Object.values(BY_TYPE).filter((name) => !own.includes(name));
  const names = [...former, ...[...own, ...former].flatMap((name) => [`${name}_entities`, `${name}__reindex`])];
  const found = await Promise.all(names.map(async (name) => ((await client.collectionExists(name)).exists ? [name] : [])));
  return found.flat();
}
