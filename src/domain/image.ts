import { z } from "zod";

/** Images of a message: what may be sent, and what is kept of each. */

export const MAX_IMAGES = 4;
export const MAX_IMAGE_BYTES = 5 * 1024 * 1024;
export const MAX_IMAGE_URL_CHARS = 2_048;

export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];

/**
 * One image of a message as the journal names it. `id`: SHA-256 in hex of its bytes, or of its address where that is all that is kept.
 * Type and size are null for one that is kept by address: nobody here has looked at it.
 */
export const messageImageSchema = z.object({
  id: z.string().regex(/^[0-9a-f]{64}$/),
  media_type: z.enum(IMAGE_TYPES).nullable(),
  bytes: z.number().int().nullable(),
  url: z.string().optional(),
});

/** The same as it is told. */
export const shownImageSchema = messageImageSchema
  .extend({
    id: z.string().meta({ description: "SHA-256 of the image, or of its address where that is all that is kept." }),
    url: z.string().optional().meta({ description: "Where it was sent by its address. Others: GET /v1/sessions/{id}/images/{image_id}." }),
  })
  .meta({ id: "MessageImage" });
export type MessageImage = z.infer<typeof messageImageSchema>;

/** An image as a client sends it: its bytes, or an https or data URL. What is fetched from an https URL, the model's provider fetches. */
export type GivenImage = { readonly data: Uint8Array } | { readonly url: string };

/** How the formats begin, in ASCII; a dot stands for any byte. */
const BEGINNINGS: readonly (readonly [ImageType, string])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF87a"],
  ["image/gif", "GIF89a"],
  ["image/webp", "RIFF....WEBP"],
];

/** By its first bytes, whatever it is said to be; null for what is none of {@link IMAGE_TYPES}. */
export function imageTypeOf(data: Uint8Array): ImageType | null {
  const head = Buffer.from(data.buffer, data.byteOffset, Math.min(data.byteLength, 16)).toString("latin1");
  const fits = (beginning: string) => [...beginning].every((char, at) => char === "." || head[at] === char);
  return BEGINNINGS.find(([, beginning]) => fits(beginning))?.[0] ?? null;
}

/** SHA-256 in hex. Beside the event loop: five MiB take a while. */
export async function imageIdOf(data: Uint8Array): Promise<string> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", new Uint8Array(data))).toString("hex");
}

/** Null for what is no base64, in either alphabet. */
export function fromBase64(text: string): Uint8Array | null {
  const data = Buffer.from(text, "base64");
  // What is no base64 is passed over in decoding, and so makes it shorter.
  return data.byteLength > 0 && data.byteLength === Buffer.byteLength(text, "base64") ? data : null;
}
