import { createHash } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import { AppError } from "../errors.js";
import type { HttpEnv } from "./http-env.js";

/** Largest JSON body in bytes: a message of 8,000 characters, page context and metadata, with every character escaped. */
export const MAX_BODY_BYTES = 256 * 1024;
/** Deepest nesting of a JSON body. */
export const MAX_JSON_DEPTH = 32;

const JSON_TYPE = /^application\/json\s*(;|$)/i;

/** Counts as it passes on. @throws PAYLOAD_TOO_LARGE as soon as it is more than `limit` bytes */
export async function* limited(chunks: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    if (bytes > limit) throw new AppError("PAYLOAD_TOO_LARGE", { detail: `The body is over ${limit} bytes.` });
    yield chunk;
  }
}

export function refuseDeclaredLength(header: string | undefined, limit: number): void {
  if (header !== undefined && Number(header) > limit)
    throw new AppError("PAYLOAD_TOO_LARGE", { detail: `The body is over ${limit} bytes.` });
}

async function readText(request: Request): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of limited(request.body ?? emptyBody(), MAX_BODY_BYTES)) chunks.push(chunk);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new AppError("INVALID_REQUEST", { detail: "The body is not UTF-8.", cause });
  }
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AppError("INVALID_REQUEST", { detail: "The body is not JSON.", errors: [{ pointer: "", detail: "malformed JSON" }] });
  }
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

function refuseBrokenText(text: string): void {
  if (/\p{Surrogate}/u.test(text)) throw refused("a string holds half a surrogate pair");
}

function refused(detail: string): AppError {
  return new AppError("INVALID_REQUEST", { detail: `The body is refused: ${detail}.`, errors: [{ pointer: "", detail }] });
}

/** JSON with sorted keys: two bodies that say the same have the same text. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** SHA-256 in hex of a body's canonical form, without `stream`: how an answer travels is not what was asked. */
export function requestHash(body: unknown): string {
  const asked = typeof body === "object" && body !== null ? { ...body, stream: undefined } : body;
  return createHash("sha256").update(canonicalJson(asked)).digest("hex");
}

/** Reads and checks a JSON body before any validator sees it. `skip` names the paths that stream their body themselves. */
export function jsonBody(skip: ReadonlySet<string>): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    if (c.req.method === "GET" || c.req.method === "HEAD" || skip.has(c.req.path)) return next();
    refuseDeclaredLength(c.req.header("Content-Length"), MAX_BODY_BYTES);
    const text = await readText(c.req.raw);
    const type = c.req.header("Content-Type");
    if (text !== "" && (type === undefined || !JSON_TYPE.test(type))) throw new AppError("UNSUPPORTED_MEDIA_TYPE");
    const json = text.trim() === "" ? "{}" : text;
    const body = parseJson(json);
    refuseHostileJson(body);
    // Hono keeps promises here, whatever the type says; validators then read this text instead of the spent stream.
    c.req.bodyCache.text = Promise.resolve(json) as unknown as string;
    c.set("body", body);
    return next();
  };
}
