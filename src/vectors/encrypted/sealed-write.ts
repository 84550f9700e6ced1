import type { OwnerSeals, WritersSeal } from "../../ports/key-vault.js";
import type { Payload, PointId, VectorClient } from "../../ports/vectors.js";

/** The payload's key that holds all that is sealed of it. */
export const SEALED = "_sealed";
export const WHOSE = "user_id";

/** A sealed payload holds in its own point alone. */
export function placeOf(collection: string, id: PointId): string {
  return `${collection}\n${id}`;
}

/** Null where nothing of it is sealed. */
export function sealedIn(payload: Payload): string | null {
  const sealed = payload[SEALED];
  return typeof sealed === "string" ? sealed : null;
}

/** One write, whose keys may be renewed by another process before it has ended: then what it sealed is sealed anew. */
export class Writing {
  readonly #inner: VectorClient;
  readonly #seals: OwnerSeals;
  readonly #collection: string;
  readonly #byOwner = new Map<string, WritersSeal>();
  readonly #wrote: { readonly id: PointId; readonly owner: string; readonly sealed: string }[] = [];

  constructor(inner: VectorClient, seals: OwnerSeals, collection: string) {
    this.#inner = inner;
    this.#seals = seals;
    this.#collection = collection;
  }

  async of(owner: string): Promise<WritersSeal> {
    const seal = this.#byOwner.get(owner) ?? (await this.#seals.toWrite(owner));
    this.#byOwner.set(owner, seal);
    return seal;
  }

  wrote(id: PointId, owner: string, sealed: string | null): void {
    if (sealed !== null) this.#wrote.push({ id, owner, sealed });
  }

  async ended(): Promise<void> {
    for (const [owner, first] of this.#byOwner) {
      let wrote = this.#wrote.filter((each) => each.owner === owner);
      for (let seal = first; await seal.isRenewed(); ) {
        const next = await this.#seals.toWrite(owner);
        const anew: typeof wrote = [];
        for (const { id, sealed: before } of wrote) {
          const place = placeOf(this.#collection, id);
          const text = seal.open(before, place);
          if (text === null) continue;
          const sealed = next.seal(text, place);
          if (await replaceSealed(this.#inner, this.#collection, { id, owner, before, after: sealed })) anew.push({ id, owner, sealed });
        }
        [seal, wrote] = [next, anew];
      }
    }
  }
}

/** Puts what was sealed anew where the same lies that was read; its tags and words stay. Whether it did. */
export async function replaceSealed(
  client: VectorClient,
  collection: string,
  { id, owner, before, after }: { readonly id: PointId; readonly owner: string; readonly before: string; readonly after: string },
): Promise<boolean> {
  const [now] = await client.retrieve(collection, { ids: [id], with_payload: [SEALED] });
  if (now?.payload?.[SEALED] !== before) return false;
  // By a filter: one that was deleted meanwhile does not come back.
  const filter = { must: [{ key: WHOSE, match: { value: owner } }, { has_id: [id] }] };
  await client.setPayload(collection, { payload: { [SEALED]: after }, filter, wait: true });
  return true;
}
