import type { RenewedSeal } from "../../ports/key-vault.js";
import type { Filter, Point, PointVector, VectorClient } from "../../ports/vectors.js";
import { scrolled } from "../requests/scrolled.js";
import { DENSE_VERSION, tellsWords } from "./encrypted-vectors.js";
import { placeOf, replaceSealed, SEALED, sealedIn, WHOSE } from "./sealed-write.js";

const RESEALED_AT_ONCE = 128;

type Meant = "clear" | "with a clear vector";

const IS_MEANT: Readonly<Record<Meant, (point: Pick<Point, "payload" | "vector">, isSealed: boolean) => boolean>> = {
  clear: (point, isSealed) => !isSealed && tellsWords(point),
  "with a clear vector": (point, isSealed) => (isSealed ? point.payload?.[DENSE_VERSION] === undefined : tellsWords(point)),
};

/**
 * Seals points of a collection, through the client that seals: those in clear, also of their vector where that is asked for. Nobody else
 * writes meanwhile. Returns how many. Broken off, the same again does the rest.
 */
export async function sealPoints(
  { stored, sealing }: { readonly stored: VectorClient; readonly sealing: VectorClient },
  collection: string,
  { which, signal }: { readonly which: Meant; readonly signal: AbortSignal },
): Promise<number> {
  if (!(await stored.collectionExists(collection)).exists) return 0;
  let done = 0;
  for await (const points of scrolled(stored, collection, { limit: RESEALED_AT_ONCE, with_payload: true, with_vector: true })) {
    signal.throwIfAborted();
    for (const { id, payload, vector } of points) {
      const point = { id, vector: vector as PointVector, payload: payload ?? {} };
      const isSealed = SEALED in point.payload;
      if (!IS_MEANT[which](point, isSealed)) continue;
      // Sparse vectors that the sealing client gave out are hashed already, and stay as they are.
      const [read] = !isSealed ? [point] : await sealing.retrieve(collection, { ids: [id], with_payload: true, with_vector: true });
      if (read !== undefined) await sealing.upsert(collection, { points: [{ ...point, ...(read as Point) }], wait: true });
      done += 1;
    }
  }
  return done;
}

export interface RenewedCollection {
  readonly name: string;
  readonly client: VectorClient;
  /** For each page, where others change what is sealed in place. Default: they only add and delete. */
  readonly alone?: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * Seals an owner's points anew that are sealed by a key that is to go, beside whoever writes them: their tags, words and vectors stay, and
 * what was written meanwhile does. Returns how many.
 */
export async function renewPoints(
  { name, client, alone = (work) => work() }: RenewedCollection,
  { owner, seal, signal }: { readonly owner: string; readonly seal: RenewedSeal; readonly signal: AbortSignal },
): Promise<number> {
  if (!(await client.collectionExists(name)).exists) return 0;
  const filter: Filter = { must: [{ key: WHOSE, match: { value: owner } }] };
  let done = 0;
  for await (const points of scrolled(client, name, { limit: RESEALED_AT_ONCE, with_payload: [SEALED], filter })) {
    const found = points.flatMap(({ id, payload }) => {
      const before = sealedIn(payload ?? {});
      return before !== null && seal.isBefore(before) ? [{ id, before, place: placeOf(name, id) }] : [];
    });
    if (found.length === 0) continue;
    await alone(async () => {
      for (const { id, before, place } of found) {
        signal.throwIfAborted();
        const text = await seal.open(before, place);
        if (text === null) continue;
        const after = seal.seal(text, place);
        if (await replaceSealed(client, name, { id, owner, before, after })) done += 1;
      }
    });
  }
  return done;
}
