import { z } from "zod";
import { type Owner, ownerHash } from "../../domain/owner.js";
import { derivedId } from "../../platform/ids.js";
import type { StoreMarker } from "../../ports/memory-store.js";
import type { VectorClient } from "../../ports/vectors.js";

export interface StoreMarkersOptions {
  /** Where all markers lie. */
  readonly collection: string;
  readonly embedder: { readonly id: string; readonly dimension: number };
  readonly installation: string;
}

/**
 * Stands where an owner would. No owner's name holds two colons, so that no filter by owner finds a marker; an owner's hash in it keeps
 * markers apart and their names out.
 */
const NOBODY = "maitred:marker:";

const markerSchema = z.object({ seq: z.number().int(), count: z.number().int(), epoch: z.number().int() });

/** Points that are no memories: how far the collection follows each owner's memory log, and which installation writes here. */
export class StoreMarkers {
  readonly #clients: { readonly reads: VectorClient; readonly writes: VectorClient };
  readonly #options: StoreMarkersOptions;

  constructor(clients: { readonly reads: VectorClient; readonly writes: VectorClient }, options: StoreMarkersOptions) {
    this.#clients = clients;
    this.#options = options;
  }

  /** Null where there is none. */
  async of(owner: Owner): Promise<StoreMarker | null> {
    const payload = await this.#payload(idOf(owner));
    return markerSchema.safeParse(payload).data ?? null;
  }

  async put(owner: Owner, marker: StoreMarker): Promise<void> {
    await this.#upsert(idOf(owner), `${NOBODY}${ownerHash(owner)}`, { ...marker });
  }

  async remove(owner: Owner): Promise<void> {
    await this.#clients.writes.delete(this.#options.collection, { filter: { must: [{ has_id: [idOf(owner)] }] }, wait: true });
  }

  async isOurs(): Promise<boolean> {
    return (await this.#payload(this.#ownId())) !== null;
  }

  async makeOurs(): Promise<void> {
    await this.#upsert(this.#ownId(), `${NOBODY}installation`, {});
  }

  #ownId(): string {
    return derivedId("memory marker", "installation", this.#options.installation);
  }

  async #payload(id: string): Promise<unknown> {
    const [point] = await this.#clients.reads.retrieve(this.#options.collection, { ids: [id], with_payload: true });
    return point === undefined ? null : (point.payload ?? {});
  }

  async #upsert(id: string, user_id: string, fields: Record<string, number>): Promise<void> {
    const { collection, embedder } = this.#options;
    // It is never searched for; a vector must be there, and one of length 1 fits every distance.
    const vector = Array.from({ length: embedder.dimension }, (_, index) => (index === 0 ? 1 : 0));
    const payload = { user_id, embedder: embedder.id, ...fields };
    await this.#clients.writes.upsert(collection, { points: [{ id, vector: { "": vector }, payload }], wait: true });
  }
}

function idOf(owner: Owner): string {
  return derivedId("memory marker", owner);
}
