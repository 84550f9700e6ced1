import { AppError, isAppError } from "../../platform/errors.js";
import { type VectorStore, VectorStoreError } from "../../ports/vectors.js";
import { PointCalls } from "../in-memory/point-calls.js";
import { answeredCalls, waitedFor } from "../requests/answered-calls.js";
import { noCollection } from "../requests/collection.js";
import { chromaDriver, isNotFound } from "./chroma-driver.js";
import { ChromaKeeper } from "./chroma-keeper.js";
import { pushLog } from "./chroma-records.js";

const DEFAULT_PORT = 8000;
/** How long the start waits for a server to tell its version, and how long a look at the health waits, in milliseconds. */
const LOOK_MS = 2_000;

export interface ChromaOptions {
  /** `http://host:8000`, `https://chroma.example`. Port 8000 where an http address names none. */
  readonly url: string;
  /** Of every call, in milliseconds. Recall and writes take instances of their own. */
  readonly timeoutMs: number;
  /** Bound of the points kept in memory for searching, in bytes. */
  readonly cacheBytes: number;
}

/**
 * A Chroma server, 1.0 or newer. It keeps the points; searches are answered from memory, exactly, for the owner whom they name: IDF is then
 * that of the owner's own points, not of all. A server that can't be reached now doesn't fail the start. Aborting `withSignal`'s signal
 * rejects with ABORTED at once; what was sent by then may still be done. Other failures are VectorStoreErrors; status 0: no answer.
 * @throws INVALID_CONFIG (the URL, a server that is too old, or a client that isn't installed)
 */
export async function openChroma({ url, timeoutMs, cacheBytes }: ChromaOptions): Promise<VectorStore> {
  const address = addressOf(url);
  const { ChromaClient } = await chromaDriver();
  const api = new ChromaClient(address);
  const calls = new PointCalls(new ChromaKeeper(api, cacheBytes), isNotFound);
  // Pushes what was deleted out of Chroma's log of the last writes.
  const scrub = async () => {
    for (const collection of calls.opened()) await calls.writing(collection.name, () => pushLog(collection));
  };
  let closed = false;
  const within = async <T>(what: string, collection: string, work: () => Promise<T>, boundMs: number, signal?: AbortSignal): Promise<T> => {
    if (closed) throw new VectorStoreError(503, "The Chroma client is closed.");
    return waitedFor(work(), { server: "Chroma", what, timeoutMs: boundMs }, signal, (cause) => failureOf(what, collection, cause));
  };
  const version = await within("version", "", () => api.version(), LOOK_MS).catch(() => null);
  if (version !== null && Number.parseInt(version, 10) < 1)
    throw new AppError("INVALID_CONFIG", { detail: `This Chroma server is version ${version}.`, hint: "Use Chroma 1.0 or newer." });
  return {
    ...answeredCalls((method, collection, args, signal) =>
      within(method, collection, () => calls.call(method, collection, args), timeoutMs, signal),
    ),
    location: `${address.ssl ? "https" : "http"}://${address.host}:${address.port}`,
    keepsDeleted:
      "Chroma keeps deleted texts in the free space of its file until somebody stops it and runs `chroma vacuum --path` on its directory.",
    scrub: () => within("scrub", "", scrub, timeoutMs),
    health: async () => {
      try {
        await within("heartbeat", "", () => api.heartbeat(), LOOK_MS);
        return { status: "ok" };
      } catch (error) {
        return { status: "down", detail: error instanceof Error ? error.message : "Chroma doesn't answer." };
      }
    },
    close: async () => {
      closed = true;
    },
  };
}

/** @throws INVALID_CONFIG */
function addressOf(url: string): { readonly host: string; readonly port: number; readonly ssl: boolean } {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new AppError("INVALID_CONFIG", { detail: "CHROMA_URL is not an http or https URL." });
  const { protocol, hostname, port } = new URL(url);
  const ssl = protocol === "https:";
  return { host: hostname, port: Number(port) || (ssl ? 443 : DEFAULT_PORT), ssl };
}

const STATUS: Readonly<Record<string, number>> = { ChromaUniqueError: 409, ChromaRateLimitError: 429, ChromaConnectionError: 0 };

/** The client's own words stay in the cause: they may quote what was sent. */
function failureOf(what: string, collection: string, cause: unknown): unknown {
  if (cause instanceof VectorStoreError || isAppError(cause)) return cause;
  if (isNotFound(cause)) return noCollection(collection, { cause });
  const name = cause instanceof Error ? cause.name : "";
  const status = STATUS[name] ?? (name.startsWith("Chroma") ? 503 : 0);
  return new VectorStoreError(status, status === 0 ? `Chroma gave no answer to ${what}.` : `Chroma refused ${what} (${name}).`, { cause });
}
