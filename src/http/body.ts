import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { setImmediate as nextTick } from "node:timers/promises";
import type { MiddlewareHandler } from "hono";
import { MAX_IMAGE_BYTES, MAX_IMAGES } from "../domain/image.js";
import { AppError } from "../platform/errors.js";
import { canonicalJson, parsedJson } from "../platform/json.js";
import type { HttpEnv } from "./http-env.js";

/** Largest JSON body in bytes: a message of 8,000 characters, page context and metadata, with every character escaped. */
export const MAX_BODY_BYTES = 256 * 1024;
/** Of a chat: four images of 5 MiB in base64, beside what every body may hold. */
export const MAX_CHAT_BODY_BYTES = Math.ceil((MAX_IMAGES * MAX_IMAGE_BYTES * 4) / 3) + MAX_BODY_BYTES;
/** Largest body of clients that send a whole conversation each time: of it, beside its images, so much. */
const MAX_CONVERSATION_BYTES = 4 * 1024 * 1024;
export const MAX_JSON_DEPTH = 32;

const JSON_TYPE = /^application\/json\s*(;|$)/i;

function tooLarge(limit: number): AppError {
  return new AppError("PAYLOAD_TOO_LARGE", { detail: `The body is over ${limit} bytes.` });
}

/** Counts as it passes on. @throws PAYLOAD_TOO_LARGE as soon as it is more than `limit` bytes */
export async function* limited(chunks: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    if (bytes > limit) throw tooLarge(limit);
    yield chunk;
  }
}

/** A request's body as it comes in; of a request without one nothing. */
export async function* chunksOf({ body }: Request): AsyncGenerator<Uint8Array> {
  if (body !== null) yield* body as AsyncIterable<Uint8Array>;
}

export function refuseDeclaredLength(header: string | undefined, limit: number): void {
  if (header !== undefined && Number(header) > limit) throw tooLarge(limit);
}

/** In bytes. */
interface BodyLimit {
  readonly whole: number;
  readonly besideImages: number;
}

/** Four images of a turn, and as many of what was said before: they come again each time. */
export const CONVERSATION_LIMIT: BodyLimit = { whole: 2 * MAX_CHAT_BODY_BYTES, besideImages: MAX_CONVERSATION_BYTES };
export const CHAT_LIMIT: BodyLimit = { whole: MAX_CHAT_BODY_BYTES, besideImages: MAX_BODY_BYTES };
const USUAL_LIMIT: BodyLimit = { whole: MAX_BODY_BYTES, besideImages: MAX_BODY_BYTES };

async function readText(request: Request, { whole, besideImages }: BodyLimit): Promise<string> {
  const chunks: Uint8Array[] = [];
  const size = new SizeBesideImages(besideImages);
  for await (const chunk of limited(chunksOf(request), whole)) {
    chunks.push(chunk);
    if (!size.fits(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))) throw tooLarge(besideImages);
  }
  const bytes = Buffer.concat(chunks);
  await nextIfLarge(bytes.byteLength);
  if (!isUtf8(bytes)) throw new AppError("INVALID_REQUEST", { detail: "The body is not UTF-8." });
  return new TextDecoder().decode(bytes);
}

/** Each step over a body with images takes a while: others go in between. */
async function nextIfLarge(bytes: number): Promise<void> {
  if (bytes > MAX_BODY_BYTES) await nextTick();
}

/**
 * Refuses what no field may hold: nesting over {@link MAX_JSON_DEPTH}, a key `__proto__`, half a surrogate pair (which UTF-8 can't hold).
 * Walks without recursion.
 */
function refuseHostileJson(value: unknown): void {
  const rest: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 1 }];
  for (let next = rest.pop(); next; next = rest.pop()) {
    if (typeof next.value === "string") refuseBrokenText(next.value);
    if (typeof next.value !== "object" || next.value === null) continue;
    if (next.depth > MAX_JSON_DEPTH) throw refused(`nested deeper than ${MAX_JSON_DEPTH} levels`);
    for (const [key, inner] of Object.entries(next.value)) {
      if (key === "__proto__") throw refused("the key __proto__ is not allowed");
      refuseBrokenText(key);
      rest.push({ value: inner, depth: next.depth + 1 });
    }
  }
}

/** Whether a value that was parsed elsewhere holds nothing that a body may not hold. */
export function isPlainJson(value: unknown): boolean {
  try {
    refuseHostileJson(value);
    return true;
  } catch {
    return false;
  }
}

function refuseBrokenText(text: string): void {
  if (/\p{Surrogate}/u.test(text)) throw refused("a string holds half a surrogate pair");
}

function refused(detail: string): AppError {
  return new AppError("INVALID_REQUEST", { detail: `The body is refused: ${detail}.`, errors: [{ pointer: "", detail }] });
}

/**
 * SHA-256 in hex of a body's canonical form, without `stream`: how an answer travels is not what was asked. Without `images`: a turn tells
 * them apart by their own hashes.
 */
export function requestHash(body: unknown): string {
  const asked = typeof body === "object" && body !== null ? { ...body, stream: undefined, images: undefined } : body;
  return createHash("sha256").update(canonicalJson(asked)).digest("hex");
}

/**
 * Reads and checks a JSON body before any validator sees it. `skip` names the paths that stream their body themselves, `limits` those
 * whose body may be of another size than {@link MAX_BODY_BYTES}.
 */
export function jsonBody(skip: ReadonlySet<string>, limits: ReadonlyMap<string, BodyLimit>): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    if (c.req.method === "GET" || c.req.method === "HEAD" || skip.has(c.req.path)) return next();
    const limit = limits.get(c.req.path) ?? USUAL_LIMIT;
    refuseDeclaredLength(c.req.header("Content-Length"), limit.whole);
    const text = await readText(c.req.raw, limit);
    const type = c.req.header("Content-Type");
    if (text !== "" && (type === undefined || !JSON_TYPE.test(type))) throw new AppError("UNSUPPORTED_MEDIA_TYPE");
    const json = text.trim() === "" ? "{}" : text;
    await nextIfLarge(json.length);
    const body = parsedJson(json);
    if (body === undefined)
      throw new AppError("INVALID_REQUEST", { detail: "The body is not JSON.", errors: [{ pointer: "", detail: "malformed JSON" }] });
    await nextIfLarge(json.length);
    refuseHostileJson(body);
    // Hono keeps promises here, whatever the type says; validators then read this text instead of the spent stream.
    c.req.bodyCache.text = Promise.resolve(json) as unknown as string;
    c.set("body", body);
    return next();
  };
}

const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = "\\".charCodeAt(0);
/** Keys whose texts may be images. */
const IMAGE_KEYS: ReadonlySet<string> = new Set(["data", "url", "image_url"]);
const MAX_KEY_CHARS = 10;
/** A shorter text counts as what it is. */
const MIN_IMAGE_CHARS = 4_096;

/**
 * Counts what a JSON body holds beside images as it comes in, without parsing it: a long text under an image's key is an image. So a body
 * that may hold images can be held to the size of any other, and reading and walking what it holds takes no longer.
 */
export class SizeBesideImages {
  #others = 0;
  #isText = false;
  /** Of the text that is being read, or was read last. */
  #length = 0;
  #head = "";
  #isPlain = true;
  /** Whether a backslash waits for the next character. */
  #isEscaped = false;
  /** The text before that one. */
  #key = "";

  readonly #limit: number;

  /** @param limit in bytes */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** False once it is too much: looks no further. A text that may yet become an image doesn't count. */
  fits(chunk: Buffer): boolean {
    for (let at = 0; at < chunk.byteLength && this.#others <= this.#limit; ) {
      const quote = chunk.indexOf(QUOTE, at);
      const end = quote === -1 ? chunk.byteLength : quote;
      if (this.#isText) this.#text(chunk, at, end, quote !== -1);
      else {
        this.#others += end - at + 1;
        if (quote !== -1) this.#begin();
      }
      at = end + 1;
    }
    return this.#others + (this.#isText && !this.#mayBeImage ? this.#length : 0) <= this.#limit;
  }

  get #mayBeImage(): boolean {
    return this.#isPlain && IMAGE_KEYS.has(this.#key);
  }

  #begin(): void {
    this.#key = this.#length <= MAX_KEY_CHARS ? this.#head : "";
    this.#isText = true;
    this.#length = 0;
    this.#head = "";
    this.#isPlain = true;
    this.#isEscaped = false;
  }

  #text(chunk: Buffer, from: number, end: number, atQuote: boolean): void {
    let backslashes = 0;
    while (end - backslashes > from && chunk[end - backslashes - 1] === BACKSLASH) backslashes += 1;
    const before = backslashes === end - from && this.#isEscaped ? 1 : 0;
    this.#isEscaped = (backslashes + before) % 2 === 1;
    if (this.#head.length < MAX_KEY_CHARS && end > from)
      this.#head += chunk.toString("latin1", from, Math.min(end, from + MAX_KEY_CHARS - this.#head.length));
    this.#length += end - from;
    if (!atQuote) return;
    if (this.#isEscaped) {
      this.#isPlain = false;
      this.#isEscaped = false;
      this.#length += 1;
    } else {
      this.#isText = false;
      if (this.#length < MIN_IMAGE_CHARS || !this.#mayBeImage) this.#others += this.#length;
    }
  }
}
