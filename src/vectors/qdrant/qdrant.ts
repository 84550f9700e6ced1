import type { QdrantClient } from "@qdrant/js-client-rest";
import { z } from "zod";
import { AsyncValue } from "../../platform/async-value.js";
import { AppError, isAppError } from "../../platform/errors.js";
import { missingPackage } from "../../platform/optional-package.js";
import { type VectorClient, type VectorStore, VectorStoreError } from "../../ports/vectors.js";

/** The first with `update_mode: "insert_only"`. */
const OLDEST = { major: 1, minor: 17 };
const DEFAULT_PORT = 6333;
/** How long the start waits for a server to tell its version. */
const START_MS = 2_000;

/**
 * Compile-time check that the port hasn't drifted from the server: the real client takes every request of ours, and its answers are ours.
 * (`satisfies` on the instance would not do: methods are compared bivariantly unless they are properties.)
 */
type Calls = { [K in keyof VectorClient]: (...args: Parameters<VectorClient[K]>) => ReturnType<VectorClient[K]> };
function asPort(client: Pick<QdrantClient, keyof VectorClient>): Calls {
  return {
    collectionExists: (collection) => client.collectionExists(collection),
    getCollection: (collection) => client.getCollection(collection),
    // Strict mode: the server refuses filters on keys without an index, as LocalQdrant does.
    createCollection: (collection, args) =>
      client.createCollection(collection, {
        ...args,
        strict_mode_config: { enabled: true, unindexed_filtering_retrieve: false, unindexed_filtering_update: false },
      }),
    deleteCollection: (collection) => client.deleteCollection(collection),
    createPayloadIndex: (collection, args) => client.createPayloadIndex(collection, { wait: true, ...args }),
    upsert: (collection, args) => client.upsert(collection, args),
    query: (collection, args) => client.query(collection, args),
    scroll: (collection, args) => client.scroll(collection, args),
    retrieve: (collection, args) => client.retrieve(collection, args),
    setPayload: (collection, args) => client.setPayload(collection, args),
    delete: (collection, { wait, points, filter }) => {
      if (points !== undefined) return client.delete(collection, { points, ...(wait === undefined ? {} : { wait }) });
      if (filter !== undefined) return client.delete(collection, { filter, ...(wait === undefined ? {} : { wait }) });
      throw new VectorStoreError(400, "Either `points` or `filter` says which points are meant.");
    },
    count: (collection, args) => client.count(collection, args),
    facet: (collection, args) => client.facet(collection, args),
  };
}

/** What is read of a server's answers. A server that answers something else is broken or no Qdrant: an error, not an empty result. */
const id = z.union([z.string(), z.number()]);
const stored = z.looseObject({ id, payload: z.record(z.string(), z.unknown()).nullish() });
const scored = stored.extend({ score: z.number() });
const done = z.unknown();

const ANSWERS = {
  versionInfo: z.looseObject({ version: z.string() }),
  collectionExists: z.looseObject({ exists: z.boolean() }),
  getCollection: z.looseObject({
    config: z.looseObject({ params: z.looseObject({}) }),
    payload_schema: z.record(z.string(), z.unknown()),
  }),
  createCollection: z.boolean(),
  deleteCollection: z.boolean(),
  createPayloadIndex: done,
  upsert: done,
  setPayload: done,
  delete: done,
  query: z.looseObject({ points: z.array(scored) }),
  scroll: z.looseObject({ points: z.array(stored) }),
  retrieve: z.array(stored),
  count: z.looseObject({ count: z.int().min(0) }),
  facet: z.looseObject({
    hits: z.array(z.looseObject({ value: z.union([z.string(), z.number(), z.boolean()]), count: z.int().min(0) })),
  }),
} as const;

/** @throws VectorStoreError with status 0 */
function parseAnswer<K extends keyof typeof ANSWERS>(call: K, answer: unknown): z.infer<(typeof ANSWERS)[K]> {
  const parsed = ANSWERS[call].safeParse(answer);
  if (!parsed.success) throw new VectorStoreError(0, `Qdrant's answer to ${call} can't be understood.`, { cause: parsed.error });
  return parsed.data as z.infer<(typeof ANSWERS)[K]>;
}

export interface QdrantOptions {
  /** `http://host:6333`, `https://cluster.example:6333/prefix`. Port 6333 where it names none. */
  readonly url: string;
  readonly apiKey?: string;
  /** Of every call, in milliseconds; from its start to the last byte of its answer. Recall and writes take instances of their own. */
  readonly timeoutMs: number;
}

/**
 * A Qdrant server, 1.17 or newer, behind the real client. A server that can't be reached now doesn't fail the start: its version is
 * asked for
 * before the first call that reaches it. Calls inside `withSignal` reject with ABORTED when the signal aborts: what wasn't sent by
 * then isn't sent.
 * Other failures are VectorStoreErrors with Qdrant's status.
 * @throws QDRANT_TOO_OLD, INVALID_CONFIG (the URL, or a client that isn't installed)
 */
export async function openQdrant(options: QdrantOptions): Promise<VectorStore> {
  const { parameters, location } = addressOf(options);
  const signals = new AsyncValue<AbortSignal>();
  const lifetime = new AbortController();
  const { QdrantClient: Client } = await qdrantClient();
  const client = new Client({ ...parameters, timeout: Number.POSITIVE_INFINITY, checkCompatibility: false });
  const signalOfCall = () => {
    const signal = signals.get();
    return AbortSignal.any([lifetime.signal, AbortSignal.timeout(options.timeoutMs), ...(signal === undefined ? [] : [signal])]);
  };
  handSignals(client, signalOfCall);

  const guarded = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const signal = signals.get();
    if (signal?.aborted) throw new AppError("ABORTED", { cause: signal.reason });
    try {
      return await work();
    } catch (cause) {
      if (signal?.aborted) throw new AppError("ABORTED", { cause: signal.reason });
      throw cause instanceof AppError || cause instanceof VectorStoreError ? cause : failureOf(what, cause, options.timeoutMs);
    }
  };
  let recentEnough = false;
  const checkVersion = async () => {
    const { version } = parseAnswer("versionInfo", await client.versionInfo());
    const [major = 0, minor = 0] = version.split(".").map(Number);
    if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor))
      throw new AppError("QDRANT_TOO_OLD", { detail: `This Qdrant server is version ${version}.` });
    recentEnough = true;
  };

  const calls = asPort(client);
  const wrap = <K extends keyof VectorClient>(name: K): Calls[K] => {
    const call = calls[name] as (...args: unknown[]) => Promise<unknown>;
    const wrapped = (...args: unknown[]) =>
      guarded(name, async () => {
        if (!recentEnough) await checkVersion();
        return parseAnswer(name, await call(...args));
      });
    return wrapped as unknown as Calls[K];
  };
  const names = Object.keys(calls) as (keyof VectorClient)[];
  const store: VectorStore = {
    client: Object.fromEntries(names.map((name) => [name, wrap(name)])) as unknown as VectorClient,
    location,
    withSignal: (signal, work) => {
      const outer = signals.get();
      return signals.run(outer === undefined ? signal : AbortSignal.any([outer, signal]), work);
    },
    health: async () => {
      try {
        await guarded("versionInfo", checkVersion);
        return { status: "ok" };
      } catch (error) {
        return { status: "down", detail: error instanceof Error ? error.message : "Qdrant doesn't answer." };
      }
    },
    close: async () => lifetime.abort(new VectorStoreError(0, "The Qdrant client is closed.")),
  };
  try {
    await store.withSignal(AbortSignal.timeout(START_MS), () => guarded("versionInfo", checkVersion));
  } catch (error) {
    if (isAppError(error) && error.code !== "ABORTED") throw error;
  }
  return store;
}

/** An optional peer: it brings a compiler along. */
async function qdrantClient(): Promise<typeof import("@qdrant/js-client-rest")> {
  try {
    return await import("@qdrant/js-client-rest");
  } catch (cause) {
    throw missingPackage({ name: "@qdrant/js-client-rest", setting: "QDRANT_URL" }, cause);
  }
}

function addressOf({ url, apiKey }: QdrantOptions): {
  parameters: { url: string; port: number; prefix: string; apiKey?: string };
  location: string;
} {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new AppError("INVALID_CONFIG", { detail: "QDRANT_URL is not an http or https URL." });
  const { protocol, hostname, port, pathname } = new URL(url);
  // A URL hides the default port of its protocol; the client takes its absence for 6333.
  const explicit = /^https?:\/\/[^/]*:(443|80)(?:\/|$)/.exec(url)?.[1];
  const number = Number(port || explicit || DEFAULT_PORT);
  const prefix = pathname.replace(/\/+$/, "");
  return {
    parameters: { url: `${protocol}//${hostname}:${number}`, port: number, prefix, ...(apiKey === undefined ? {} : { apiKey }) },
    location: `${protocol}//${hostname}:${number}${prefix}`,
  };
}

/**
 * The client has no signals of its own, but each function of its `api()` takes a RequestInit, which its methods leave out.
 * (Its timeout, which would put a signal in place of ours, is off.)
 */
function handSignals(client: QdrantClient, signalOfCall: () => AbortSignal): void {
  const api: Record<string, unknown> = client.api();
  for (const [name, send] of Object.entries(api)) {
    if (typeof send !== "function") continue;
    api[name] = (payload: unknown, init?: RequestInit) => send(payload, { ...init, signal: signalOfCall() });
  }
}

/** Qdrant's own words stay in the cause: they may quote what was sent. */
function failureOf(what: string, cause: unknown, timeoutMs: number): VectorStoreError {
  if (cause instanceof Error && cause.name === "TimeoutError")
    return new VectorStoreError(0, `Qdrant gave no answer to ${what} within ${timeoutMs} ms.`, { cause });
  const status = cause instanceof Error && "status" in cause && typeof cause.status === "number" ? cause.status : 0;
  if (status !== 0) return new VectorStoreError(status, `Qdrant refused ${what} with status ${status}.`, { cause });
  // The client turns a 429 with Retry-After into an error without a status.
  if (cause instanceof Error && "retry_after" in cause)
    return new VectorStoreError(429, `Qdrant refused ${what} with status 429.`, { cause });
  return new VectorStoreError(0, `Qdrant gave no readable answer to ${what}.`, { cause });
}
