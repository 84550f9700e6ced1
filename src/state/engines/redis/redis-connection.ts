import type { Cluster, Redis, RedisOptions } from "ioredis";
import { awaitStart, hostIn } from "../../../platform/await-start.js";
import { boundedSignal, orAbort } from "../../../platform/bounded-signal.js";
import { AppError } from "../../../platform/errors.js";
import type { Logger } from "../../../platform/logger.js";
import { missingPackage } from "../../../platform/optional-package.js";
import type { Script } from "./scripts.js";

interface ConnectionOptions {
  readonly url: string;
  /** Bound of one command and of connecting, in milliseconds. */
  readonly timeoutMs: number;
  /** How long a start waits for a server that does not answer, or is loading, in milliseconds. */
  readonly startupWaitMs: number;
  readonly logger: Logger;
}

const LONGEST_PAUSE_MS = 1_000;
const MIN_VERSION = [6, 2] as const;

/** One Redis or Valkey, or a Cluster of them. Connects anew by itself; what was under way then is rejected, and not sent again. */
export class RedisConnection {
  readonly client: Redis | Cluster;
  /** How often a server was connected: another number, perhaps another server. */
  connections = 0;

  private constructor(client: Redis | Cluster, logger: Logger) {
    this.client = client;
    for (const event of ["ready", "+node"]) client.on(event, () => this.connections++);
    for (const node of isCluster(client) ? client.nodes() : [client]) endSocketTimerWithSocket(node);
    client.on("+node", endSocketTimerWithSocket);
    // Told once for each time that it is lost, however often it is tried again.
    let lost = false;
    client.on("ready", () => {
      lost = false;
    });
    client.on("error", (error: unknown) => {
      if (!lost) logger.warn({ err: asStorageError(error) }, "The connection to Redis was lost");
      lost = true;
    });
  }

  /**
   * @throws INVALID_CONFIG without the client; STORAGE_UNAVAILABLE that names REDIS_URL: at once where waiting does not help, such as at a
   *   wrong password
   */
  static async open({ url, timeoutMs, startupWaitMs, logger }: ConnectionOptions): Promise<RedisConnection> {
    const library = await redisClient();
    let failure: unknown;
    const start = async () => {
      try {
        return new RedisConnection(await connected(library, url, timeoutMs), logger);
      } catch (cause) {
        failure = cause;
        throw asStorageError(cause);
      }
    };
    return awaitStart(start, {
      name: `Redis at ${hostIn(url, "REDIS_URL")}`,
      hintOf: () => "Check REDIS_URL (address, user, password, database), and that the server runs.",
      waitMs: startupWaitMs,
      logger,
      mayPass: () => !isLasting(failure),
    });
  }

  get clustered(): boolean {
    return isCluster(this.client);
  }

  /** Those that take writes. */
  get servers(): readonly Redis[] {
    return isCluster(this.client) ? this.client.nodes("master") : [this.client];
  }

  /** @throws STORAGE_UNAVAILABLE */
  async command(name: string, ...args: readonly (string | number)[]): Promise<unknown> {
    return this.client.call(name, [...args]).catch((error) => Promise.reject(asStorageError(error)));
  }

  /** One step on the server that has the keys. @throws STORAGE_UNAVAILABLE */
  async run<Name extends string>(
    { names, sha, lua }: Script<Name>,
    keys: Readonly<Record<Name, string>>,
    ...args: readonly (string | number)[]
  ): Promise<readonly unknown[]> {
    const rest = [names.length, ...names.map((name) => keys[name]), ...args];
    const reply = this.client.call("EVALSHA", [sha, ...rest]).catch((error) => {
      if (replyCode(error) !== "NOSCRIPT") throw asStorageError(error);
      return this.command("EVAL", lua, ...rest);
    });
    return (await reply) as readonly unknown[];
  }
}

function isCluster(client: Redis | Cluster): client is Cluster {
  return client.isCluster;
}

/**
 * The client's timer of a socket that was closed with a command under way runs on (ioredis 5.11), and then cuts the healthy socket that has
 * come in its place. It is to end with its own.
 */
function endSocketTimerWithSocket(client: Redis): void {
  const timed = client as unknown as { socketTimeoutTimer?: NodeJS.Timeout | undefined };
  client.on("close", () => {
    clearTimeout(timed.socketTimeoutTimer);
    timed.socketTimeoutTimer = undefined;
  });
}

async function connected({ Cluster, Redis }: RedisClient, url: string, timeoutMs: number): Promise<Redis | Cluster> {
  const common = {
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    // A connection that went dead without a word is given up, and made anew.
    socketTimeout: timeoutMs,
    keepAlive: timeoutMs,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    disableClientInfo: true,
  } satisfies RedisOptions;
  const clustered = await probed(new Redis(url, { ...common, enableOfflineQueue: false, enableReadyCheck: false, retryStrategy: null }));
  let opened = false;
  const again = (times: number) => (opened ? Math.min(50 * 2 ** Math.min(times, 10), LONGEST_PAUSE_MS) : null);
  const single = new Redis(url, { ...common, enableOfflineQueue: false, retryStrategy: again });
  const { host = "127.0.0.1", port = 6379, username, password, tls } = single.options;
  const login = { ...(username != null && { username }), ...(password != null && { password }), ...(tls !== undefined && { tls }) };
  const redisOptions = { ...common, ...login };
  const client = clustered
    ? new Cluster([{ host, port }], { lazyConnect: true, enableOfflineQueue: false, clusterRetryStrategy: again, redisOptions })
    : single;
  client.on("error", () => {});
  try {
    // A Cluster whose nodes can't be reached is neither connected nor given up by the client.
    await orAbort(client.connect(), boundedSignal([], timeoutMs).signal);
    opened = true;
    return client;
  } catch (error) {
    client.disconnect();
    throw clustered ? Object.assign(new Error("connect"), { code: "no node of the Cluster by the address that it announces" }) : error;
  }
}

/** Whether it is a node of a Cluster. @throws what the server or the network has against it, or that it is too old */
async function probed(probe: Redis): Promise<boolean> {
  let last: unknown;
  probe.on("error", (error: unknown) => {
    last = error;
  });
  try {
    await probe.connect();
    const info = String(await probe.call("INFO"));
    // A login that was refused, on a server that lets in anybody.
    if (last !== undefined) throw last;
    if (/^loading:1/m.test(info)) throw Object.assign(new Error("LOADING "), { name: "ReplyError" });
    checkVersion(info);
    return /^cluster_enabled:1/m.test(info);
  } catch (error) {
    throw error instanceof AppError ? error : (last ?? error);
  } finally {
    probe.disconnect();
  }
}

function checkVersion(info: string): void {
  const [, major = "0", minor = "0"] = /^redis_version:(\d+)\.(\d+)/m.exec(info) ?? [];
  if (Number(major) > MIN_VERSION[0] || (Number(major) === MIN_VERSION[0] && Number(minor) >= MIN_VERSION[1])) return;
  const hint = `Use Redis ${MIN_VERSION.join(".")} or newer, or Valkey.`;
  throw new AppError("STORAGE_UNAVAILABLE", { detail: `it is of version ${major}.${minor}.`, hint });
}

type RedisClient = Pick<typeof import("ioredis"), "Cluster" | "Redis">;

/** An optional peer. @throws INVALID_CONFIG where it isn't installed */
async function redisClient(): Promise<RedisClient> {
  try {
    const client: Partial<RedisClient> & { readonly default: unknown } = await import("ioredis");
    // A bundler that splits gives a CommonJS package as its default alone.
    return client.Redis !== undefined && client.Cluster !== undefined ? (client as RedisClient) : (client.default as RedisClient);
  } catch (cause) {
    throw missingPackage({ name: "ioredis", setting: "REDIS_URL" }, cause);
  }
}

const REFUSALS: Readonly<Record<string, string>> = {
  OOM: "it is out of memory",
  MISCONF: "it can't write to its disk",
  READONLY: "it is a replica",
  NOREPLICAS: "too few replicas follow it",
  LOADING: "it is loading its data",
  CLUSTERDOWN: "a part of the Cluster is down",
  WRONGPASS: "user or password is wrong",
  NOAUTH: "it asks for a password",
  NOPERM: "the user lacks a permission",
};

/** Those that waiting does not mend. */
const LASTING = ["WRONGPASS", "NOAUTH", "NOPERM"];

/** What Redis refuses, or doesn't answer, as STORAGE_UNAVAILABLE. The client's own error holds arguments, which are people's words. */
export function asStorageError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const code = replyCode(error);
  const name = (error as { readonly code?: unknown } | null)?.code;
  const detail =
    code === null ? `Redis is out of reach${typeof name === "string" ? ` (${name})` : ""}.` : `Redis answered ${code}${reasonOf(code)}.`;
  const cause = new Error(error instanceof Error ? error.message.split(/,? with args/)[0] : "an error that is none");
  return new AppError("STORAGE_UNAVAILABLE", { detail, cause, retryAfterSeconds: 1 });
}

/** The word of an answer that is an error, also where a script met it (`OOM`, `NOSCRIPT`); null where there was no answer. */
export function replyCode(error: unknown): string | null {
  if (!(error instanceof Error) || error.name !== "ReplyError") return null;
  const [first] = /^[A-Z]{2,20}/.exec(error.message) ?? ["an error"];
  return Object.keys(REFUSALS).find((code) => error.message.split(/[ -]/).includes(code)) ?? first;
}

function isLasting(error: unknown): boolean {
  return LASTING.includes(replyCode(error) ?? "");
}

function reasonOf(code: string): string {
  return REFUSALS[code] === undefined ? "" : `: ${REFUSALS[code]}`;
}
