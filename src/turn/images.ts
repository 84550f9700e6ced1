import { hash } from "node:crypto";
import { isIP } from "node:net";
import { setImmediate as nextTick } from "node:timers/promises";
import {
  fromBase64,
  type GivenImage,
  imageIdOf,
  imageTypeOf,
  MAX_IMAGE_BYTES,
  MAX_IMAGE_URL_CHARS,
  MAX_IMAGES,
  type MessageImage,
} from "../domain/image.js";
import type { Owner } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import type { ChatRequest } from "../ports/application.js";
import type { ModelImage } from "../ports/chat-model.js";
import type { ImageStore } from "../ports/image-store.js";

/** An image that was looked at: what the journal keeps of it, and what the model is given. */
export interface TurnImage {
  readonly kept: MessageImage;
  readonly shown: ModelImage;
}

/** A request whose images were looked at. */
export interface TurnRequest extends Omit<ChatRequest, "images"> {
  readonly images: readonly TurnImage[];
}

/**
 * Looks at the images of a request, by their bytes and not by what they are said to be. Their hashes become part of the idempotency
 * key's request hash.
 * @throws INVALID_IMAGE, PAYLOAD_TOO_LARGE
 */
export async function withImages({ images: given = [], idempotency, ...request }: ChatRequest): Promise<TurnRequest> {
  if (given.length > MAX_IMAGES) throw new AppError("INVALID_IMAGE", { detail: `More than ${MAX_IMAGES} images.` });
  const images: TurnImage[] = [];
  for (const [place, image] of given.entries()) {
    await nextTick();
    images.push(await lookedAt(image, place));
  }
  return { ...request, images, ...(idempotency && { idempotency: withHashes(idempotency, images) }) };
}

function withHashes(idempotency: NonNullable<ChatRequest["idempotency"]>, images: readonly TurnImage[]): typeof idempotency {
  if (images.length === 0) return idempotency;
  const all = [idempotency.requestHash, ...images.map(({ kept }) => kept.id)].join(" ");
  return { ...idempotency, requestHash: hash("sha256", all) };
}

async function lookedAt(given: GivenImage, place: number): Promise<TurnImage> {
  const data = "data" in given ? given.data : inDataUrl(given.url, place);
  if (data === null) return byAddress("url" in given ? given.url : "", place);
  if (data.byteLength > MAX_IMAGE_BYTES)
    throw new AppError("PAYLOAD_TOO_LARGE", {
      detail: `Image ${place + 1} is over ${MAX_IMAGE_BYTES} bytes.`,
      hint: "Send a smaller image.",
      errors: [{ pointer: `/images/${place}`, detail: `over ${MAX_IMAGE_BYTES} bytes` }],
    });
  const mediaType = imageTypeOf(data);
  if (mediaType === null) throw invalid(place, "is no PNG, JPEG, GIF or WebP");
  const kept = { id: await imageIdOf(data), media_type: mediaType, bytes: data.byteLength };
  return { kept, shown: { data, mediaType } };
}

/** The bytes of a data URL; null for any other. */
function inDataUrl(url: string, place: number): Uint8Array | null {
  if (!/^data:/i.test(url)) return null;
  const comma = url.indexOf(",");
  const data = /;\s*base64$/i.test(url.slice(0, Math.min(comma, 256))) ? fromBase64(url.slice(comma + 1)) : null;
  if (data === null) throw invalid(place, "is a data URL without base64");
  return data;
}

/** Nothing is fetched here: the address goes to the model's provider, and is kept as it is. */
async function byAddress(url: string, place: number): Promise<TurnImage> {
  if (url.length > MAX_IMAGE_URL_CHARS) throw invalid(place, `has an address of more than ${MAX_IMAGE_URL_CHARS} characters`);
  const { protocol, username, password, hostname } = URL.canParse(url) ? new URL(url) : new URL("invalid:");
  if (protocol !== "https:") throw invalid(place, "has no https or data URL");
  if (username !== "" || password !== "") throw invalid(place, "has credentials in its address");
  if (!isPublicName(hostname)) throw invalid(place, "has an address without a public host name");
  return { kept: { id: await imageIdOf(Buffer.from(url)), media_type: null, bytes: null, url }, shown: { url } };
}

/** No number and no name of a local network: whoever fetches it may stand in one. */
function isPublicName(hostname: string): boolean {
  const name = hostname.replace(/\.$/, "");
  return name.includes(".") && isIP(name) === 0 && !/\.(?:local|localhost|internal)$/i.test(name);
}

function invalid(place: number, what: string): AppError {
  return new AppError("INVALID_IMAGE", { detail: `Image ${place + 1} ${what}.`, errors: [{ pointer: `/images/${place}`, detail: what }] });
}

/** Before the message that refers to them. */
export async function keepImages(store: ImageStore, owner: Owner, sessionId: string, images: readonly TurnImage[]): Promise<void> {
  for (const { kept, shown } of images) if ("data" in shown) await store.put(owner, sessionId, kept.id, shown.data);
}
