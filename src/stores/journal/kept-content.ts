import type { Owner } from "../../domain/owner.js";
import type { JournalRecord } from "../../domain/session.js";
import { AppError } from "../../platform/errors.js";
import type { ContentCodec, OwnerContent } from "../../ports/content-codec.js";

/** How content is kept: through the owner's codec, or, null, as it stands. What a codec has made is JSON `{ "sealed": base64 }`. */
export type Kept = OwnerContent | null;

/** What comes before the bytes of an image that a codec has made: no image begins so. */
const SEALED_BYTES = Buffer.from("maitred sealed\n", "latin1");

export async function keptFor(codec: ContentCodec | null, owner: Owner): Promise<Kept> {
  return codec === null ? null : codec.of(owner);
}

/** A value as JSON text. */
export function keptJson(value: unknown, kept: Kept): string {
  return JSON.stringify(kept === null ? value : { sealed: seal(value, kept) });
}

/** The value of a JSON text that {@link keptJson} made, now or before there was a codec. @throws STORAGE_DAMAGED */
export function openedJson(json: string, kept: Kept): unknown {
  return opened(JSON.parse(json), kept);
}

/** The same of a value that is parsed already. @throws STORAGE_DAMAGED */
export function opened(value: unknown, kept: Kept): unknown {
  return isSealed(value) ? unseal(value.sealed, kept) : value;
}

/**
 * A record to be kept: its place in the journal stays readable, and so do whose session it is and where a rewind goes back to; the rest
 * of its body does not.
 */
export function keptRecord(record: JournalRecord, kept: Kept): object {
  const { v, seq, type, id, turn, at, body } = record;
  if (kept === null || type === "rewind") return { v, seq, type, id, turn, at, body };
  const whose = type === "session" ? { body: { owner: record.body.owner } } : {};
  return { v, seq, type, id, turn, at, ...whose, sealed: seal(body, kept) };
}

/** What {@link keptRecord} was given, yet to be parsed. @throws STORAGE_DAMAGED */
export function openedRecord(value: unknown, kept: Kept): unknown {
  if (!isSealed(value)) return value;
  const { sealed, ...rest } = value;
  return { ...rest, body: unseal(sealed, kept) };
}

export function keptBytes(data: Uint8Array, kept: Kept): Uint8Array {
  return kept === null ? data : Buffer.concat([SEALED_BYTES, kept.encode(data)]);
}

/** @throws STORAGE_DAMAGED */
export function openedBytes(data: Uint8Array, kept: Kept): Uint8Array {
  const { length } = SEALED_BYTES;
  if (!SEALED_BYTES.equals(data.subarray(0, length))) return data;
  return decoded(data.subarray(length), kept);
}

export function isSealed(value: unknown): value is { readonly sealed: string } {
  return typeof value === "object" && value !== null && "sealed" in value && typeof value.sealed === "string";
}

function seal(value: unknown, kept: OwnerContent): string {
  return Buffer.from(kept.encode(Buffer.from(JSON.stringify(value), "utf8"))).toString("base64");
}

function unseal(sealed: string, kept: Kept): unknown {
  return JSON.parse(Buffer.from(decoded(Buffer.from(sealed, "base64"), kept)).toString("utf8"));
}

function decoded(sealed: Uint8Array, kept: Kept): Uint8Array {
  if (kept === null)
    throw new AppError("STORAGE_DAMAGED", {
      detail: "Content here was written through a content codec, which is not there any more.",
      hint: "Open the store with the codec that it was written with.",
    });
  try {
    return kept.decode(sealed);
  } catch (cause) {
    throw new AppError("STORAGE_DAMAGED", { detail: "Content can't be decoded: it is damaged, or its key is another.", cause });
  }
}
