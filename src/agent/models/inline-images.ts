import { setImmediate as nextTick } from "node:timers/promises";
import { newId } from "../../platform/ids.js";
import type { ModelImage } from "../../ports/chat-model.js";

/** Stands in an OpenAI body for a data URL until {@link encodedBody} puts it there. */
class InlineImage {
  readonly #mediaType: string;
  readonly #data: Uint8Array;

  constructor(mediaType: string, data: Uint8Array) {
    this.#mediaType = mediaType;
    this.#data = data;
  }

  dataUrl(): Buffer<ArrayBuffer> {
    const { buffer, byteOffset, byteLength } = this.#data;
    const base64 = Buffer.from(buffer, byteOffset, byteLength).toString("base64");
    return Buffer.from(`data:${this.#mediaType};base64,${base64}`, "latin1");
  }
}

/** As OpenAI's APIs take it: an address, or what becomes a data URL. */
export function imageUrl(image: ModelImage): string | InlineImage {
  return "url" in image ? image.url : new InlineImage(image.mediaType, image.data);
}

/** A body with images as JSON in UTF-8. Made piece by piece: as one text, images of some MiB would hold everybody up. */
export async function encodedBody(body: object): Promise<Blob> {
  const images: InlineImage[] = [];
  const mark = newId();
  const json = JSON.stringify(body, (_key, value: unknown) => {
    if (!(value instanceof InlineImage)) return value;
    images.push(value);
    return mark;
  });
  const pieces: Blob[] = [];
  for (const [at, part] of json.split(mark).entries()) {
    await nextTick();
    const before = images[at - 1];
    pieces.push(new Blob(before === undefined ? [part] : [before.dataUrl(), part]));
  }
  return new Blob(pieces);
}
