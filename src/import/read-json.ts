import { AppError } from "../platform/errors.js";

/** Lets bytes through up to a limit. @throws PAYLOAD_TOO_LARGE, and the signal's reason when it aborts */
export async function* limitBytes(body: AsyncIterable<Uint8Array>, limit: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of body) {
    signal.throwIfAborted();
    bytes += chunk.byteLength;
    if (bytes > limit) throw new AppError("PAYLOAD_TOO_LARGE", { detail: `An import holds at most ${limit / 1024 / 1024} MiB.` });
    yield chunk;
  }
}

/** The whole body as JSON; the caller bounds its size. @throws INVALID_IMPORT */
export async function readJson(body: AsyncIterable<Uint8Array>): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return parseJson(Buffer.concat(chunks));
}

/** @throws INVALID_IMPORT */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new AppError("INVALID_IMPORT", { detail: "The import is not JSON in UTF-8.", cause });
  }
}
