import { type ImageType, imageTypeOf } from "../domain/image.js";
import type { Owner } from "../domain/owner.js";
import type { JournalRecord, NewRecord } from "../domain/session.js";
import { AppError } from "../platform/errors.js";
import type { ImageStore } from "../ports/image-store.js";

/** @throws IMAGE_NOT_FOUND */
export async function readImage(
  images: ImageStore,
  owner: Owner,
  sessionId: string,
  imageId: string,
): Promise<{ readonly mediaType: ImageType; readonly data: Uint8Array }> {
  const data = await images.get(owner, sessionId, imageId);
  const mediaType = data === null ? null : imageTypeOf(data);
  if (data === null || mediaType === null) throw new AppError("IMAGE_NOT_FOUND");
  return { mediaType, data };
}

/**
 * Gives a fork or a copy, before it is written, copies of the images that its messages refer to. `copier`: whose it is. Default: the
 * owner's.
 */
export async function copyImages(
  images: ImageStore,
  owner: Owner,
  from: string,
  to: string,
  records: readonly NewRecord[],
  copier: Owner = owner,
): Promise<void> {
  for (const id of imageIdsOf(records)) {
    const data = await images.get(owner, from, id);
    if (data !== null) await images.put(copier, to, id, data);
  }
}

/** Ids of the images that messages refer to, each once. */
export function imageIdsOf(records: readonly (JournalRecord | NewRecord)[]): ReadonlySet<string> {
  return new Set(records.flatMap((record) => (record.type === "message" ? (record.body.images ?? []).map(({ id }) => id) : [])));
}
