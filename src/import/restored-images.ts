import type { ExportedMessage, ExportedSession } from "../domain/export-format.js";
import { fromBase64, imageIdOf, imageTypeOf, MAX_IMAGE_BYTES, MAX_IMAGE_URL_CHARS, type MessageImage } from "../domain/image.js";
import type { ErrorDetail } from "../platform/errors.js";

export interface RestorableSession {
  /** Its messages name the images that can be kept, without their bytes. */
  readonly session: ExportedSession;
  /** By id. */
  readonly images: ReadonlyMap<string, Uint8Array>;
  /** What is no image, or another than it is said to be. */
  readonly leftOut: readonly ErrorDetail[];
}

type ExportedImage = NonNullable<ExportedMessage["images"]>[number];

/** Looks at the images of an exported session as at those of a chat. `pointer`: where the session stands in the document. */
export async function withRestorableImages(session: ExportedSession, pointer: string): Promise<RestorableSession> {
  const images = new Map<string, Uint8Array>();
  const leftOut: ErrorDetail[] = [];
  const messages: ExportedMessage[] = [];
  for (const [at, message] of session.messages.entries()) {
    const kept: MessageImage[] = [];
    for (const [place, given] of (message.images ?? []).entries()) {
      const data = fromBase64(given.data ?? "");
      const image = data === null ? byAddress(given) : await byData(given, data);
      if (image !== null) kept.push(image);
      else
        leftOut.push({
          pointer: `${pointer}/messages/${at}/images/${place}`,
          detail: `an image of message ${message.id} is not in the export, or can't be read`,
        });
      if (image !== null && data !== null) images.set(image.id, data);
    }
    const { images: _, ...rest } = message;
    messages.push(kept.length === 0 ? rest : { ...rest, images: kept });
  }
  return { session: { ...session, messages }, images, leftOut };
}

async function byData({ id }: ExportedImage, data: Uint8Array): Promise<MessageImage | null> {
  const mediaType = imageTypeOf(data);
  if (mediaType === null || data.byteLength > MAX_IMAGE_BYTES || (await imageIdOf(data)) !== id) return null;
  return { id, media_type: mediaType, bytes: data.byteLength };
}

function byAddress({ id, url }: ExportedImage): MessageImage | null {
  if (url === undefined || url.length > MAX_IMAGE_URL_CHARS || !url.startsWith("https://")) return null;
  return { id, media_type: null, bytes: null, url };
}
