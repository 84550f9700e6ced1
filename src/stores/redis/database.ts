import { setTimeout as pause } from "node:timers/promises";
import { Cluster, Redis, type RedisOptions } from "ioredis";
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis } from "rate-limiter-flexible";
import type { Owner } from "../../domain/owner.js";
import { AppError } from "../../platform/errors.js";
import type { Logger } from "../../platform/logger.js";
import type { Script } from "../../platform/lua-script.js";
import type { StorageHealth } from "../../ports/storage-health.js";
import { CONFIG_REFUSED, type Durability, notDurable } from "./durability.js";
import { asStorageError, replyCode } from "./errors.js";
import { type Keys, keysOf, tagOf } from "./keys.js";

export interface RedisDatabaseOptions {
  /** `redis://user:password@host:port/0`, or `rediss://` for TLS. Any one node of a Cluster, which is found out. */
  readonly url: string;
  /** One per installation: every key begins with it. Letters, digits, `_` and `-`. Default `maitred`. */
  readonly prefix?: string;
  readonly durability: Durability;
  /** Bound of one command and of connecting, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number;
  readonly logger: Logger;
}

type Argument = string | number;

const LONGEST_PAUSE_MS = 1_000;
/** Keys looked at in one step of a scan. */
const SCANNED = 1_000;
const MIN_VERSION = [6, 2] as const;

/** One Redis or Valkey (6.2 or newer), or a Cluster of them. Reconnects by itself; what was under way then has failed, never twice done. */
export class RedisDatabase implements StorageHealth {
  readonly prefix: string;
  /** What the server's configuration doesn't make durable; empty but with `relaxed`. */
  readonly notDurable: readonly string[];
  readonly #client: Redis | Cluster;

  private constructor(client: Redis | Cluster, prefix: string, lossy: readonly string[]) {
    this.#client = client;
    this.prefix = prefix;
    this.notDurable = lossy;
  }

  /** Connects, and checks that what is acknowledged is on disk. @throws STORAGE_UNAVAILABLE with what to do */
  static async open(options: RedisDatabaseOptions): Promise<RedisDatabase> {
    const { url, prefix = "maitred", durability, timeoutMs = 5_000, logger } = options;
    if (!/^[A-Za-z0-9_-]{1,63}$/.test(prefix))
      throw new AppError("INVALID_REQUEST", { detail: "A prefix has letters, digits, `_` and `-` only, at most 63." });
    const client = await connected(url, timeoutMs, logger);
    try {
      const lossy = await lossyIn(client);
      if (durability === "strict" && lossy.length > 0)
        throw new AppError("STORAGE_UNAVAILABLE", {
          detail: `Redis may lose what it acknowledged: ${lossy.join("; ")}.`,
          hint: "Change the server's configuration, or accept it with REDIS_DURABILITY=relaxed.",
        });
      return new RedisDatabase(client, prefix, lossy);
    } catch (error) {
      client.disconnect();
      throw asStorageError(error);
    }
  }

  keys(owner: Owner, sessionId?: string): Keys {
    return keysOf(this.prefix, tagOf(owner), sessionId);
  }

  /** @throws STORAGE_UNAVAILABLE */
  async command(name: string, ...args: readonly Argument[]): Promise<unknown> {
    try {
      return await this.#client.call(name, [...args]);
    } catch (error) {
      throw asStorageError(error);
    }
  }

  /** Keys of this installation that fit a pattern behind its prefix, in no order: each that is there throughout at least once. */
  async *scan(pattern: string): AsyncGenerator<string> {
    const servers = this.#client instanceof Cluster ? this.#client.nodes("master") : [this.#client];
    for (const server of servers) {
      for (let cursor = "0", begun = false; cursor !== "0" || !begun; begun = true) {
        const args = ["MATCH", `${this.prefix}:${pattern}`, "COUNT", SCANNED];
        const reply = await server.call("SCAN", [cursor, ...args]).catch((error: unknown) => {
          throw asStorageError(error);
        });
        const [next, keys] = reply as readonly [string, readonly string[]];
        yield* keys;
        cursor = next;
      }
    }
  }

  /** Runs a script in one step, on the server that has the keys. @throws STORAGE_UNAVAILABLE */
  async run<Name extends string>(
    { names, sha, lua }: Script<Name>,
    keys: Readonly<Record<Name, string>>,
    ...args: readonly Argument[]
  ): Promise<unknown> {
    const rest = [names.length, ...names.map((name) => keys[name]), ...args];
    try {
      return await this.#client.call("EVALSHA", [sha, ...rest]);
    } catch (error) {
      if (replyCode(error) !== "NOSCRIPT") throw asStorageError(error);
      return this.command("EVAL", lua, ...rest);
    }
  }

  /** `degraded` as long as the configuration may lose what was acknowledged. */
  async health(): Promise<{ readonly status: "ok" | "degraded" | "down"; readonly detail?: string }> {
    try {
      await this.command("PING");
    } catch (error) {
      return { status: "down", detail: error instanceof Error ? error.message : "Redis is out of reach." };
    }
    if (this.notDurable.length === 0) return { status: "ok" };
    return { status: "degraded", detail: `REDIS_DURABILITY=relaxed: Redis may lose what it acknowledged (${this.notDurable.join("; ")})` };
  }

  /** Counts requests for all processes; for this one alone while Redis is out of reach. `seconds`: of one window. */
  limiter(requests: number, seconds: number): RateLimiterAbstract {
    return new RateLimiterRedis({
      storeClient: this.#client,
      keyPrefix: `${this.prefix}:requests:${requests}:${seconds}`,
      points: requests,
      duration: seconds,
      insuranceLimiter: new RateLimiterMemory({ points: requests, duration: seconds }),
    });
  }

  async close(): Promise<void> {
    this.#client.disconnect();
  }
}

async function connected(url: string, timeoutMs: number, logger: Logger): Promise<Redis | Cluster> {
  const common = {
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    // A connection that went dead without a word is given up, and made anew.
    socketTimeout: timeoutMs,
    keepAlive: timeoutMs,
    // Whether a write that got no answer has happened is not known: sending it again would be a second one.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  } satisfies RedisOptions;
  let opened = false;
  // At start the first failure is told; later the connection is made again for as long as it takes.
  const again = (times: number) => (opened ? Math.min(50 * 2 ** Math.min(times, 10), LONGEST_PAUSE_MS) : null);
  const single = new Redis(url, { ...common, enableOfflineQueue: false, retryStrategy: again });
  told(single, logger);
  try {
    await single.connect();
    const info = String(await single.call("INFO"));
    checkVersion(info);
    if (!/^cluster_enabled:1/m.test(info)) {
      opened = true;
      return single;
    }
    const { host = "127.0.0.1", port = 6379, username, password, tls } = single.options;
    single.disconnect();
    const login = { ...(username != null && { username }), ...(password != null && { password }), ...(tls !== undefined && { tls }) };
    const cluster = new Cluster([{ host, port }], {
      lazyConnect: true,
      enableOfflineQueue: false,
      clusterRetryStrategy: again,
      redisOptions: { ...common, ...login },
    });
    told(cluster, logger);
    await connectedIn(cluster, timeoutMs);
    opened = true;
    return cluster;
  } catch (cause) {
    single.disconnect();
    if (cause instanceof AppError) throw cause;
    const { message, cause: bare } = asStorageError(cause);
    throw new AppError("STORAGE_UNAVAILABLE", {
      detail: `Redis at ${single.options.host}:${single.options.port} can't be used: ${message}`,
      hint: "Check REDIS_URL (address, user, password, database), and that the server runs.",
      cause: bare,
    });
  }
}

/** A Cluster whose nodes can't be reached is neither connected nor given up by the client. @throws STORAGE_UNAVAILABLE */
async function connectedIn(cluster: Cluster, timeoutMs: number): Promise<void> {
  const stop = new AbortController();
  const late = pause(timeoutMs, undefined, { signal: stop.signal }).then(() => {
    throw new AppError("STORAGE_UNAVAILABLE", { detail: "No node of the Redis Cluster can be reached by the address that it announces." });
  });
  try {
    await Promise.race([cluster.connect(), late]);
  } catch (error) {
    cluster.disconnect();
    throw error;
  } finally {
    late.catch(() => undefined);
    stop.abort();
  }
}

/** Once for each time that the connection is lost, however often it is tried again. */
function told(client: Redis | Cluster, logger: Logger): void {
  let lost = true;
  client.on("ready", () => {
    lost = false;
  });
  client.on("error", (error: unknown) => {
    if (!lost) logger.warn({ err: asStorageError(error) }, "The connection to Redis was lost");
    lost = true;
  });
}

function checkVersion(info: string): void {
  const [, major = "0", minor = "0"] = /^redis_version:(\d+)\.(\d+)/m.exec(info) ?? [];
  if (Number(major) > MIN_VERSION[0] || (Number(major) === MIN_VERSION[0] && Number(minor) >= MIN_VERSION[1])) return;
  throw new AppError("STORAGE_UNAVAILABLE", {
    detail: `This Redis is of version ${major}.${minor}.`,
    hint: `Use Redis ${MIN_VERSION.join(".")} or newer, or Valkey.`,
  });
}

async function lossyIn(client: Redis | Cluster): Promise<readonly string[]> {
  const servers = client instanceof Cluster ? client.nodes("master") : [client];
  const found = new Set<string>();
  for (const server of servers) {
    const read = async (name: string) => ((await server.call("CONFIG", ["GET", name])) as readonly string[])[1] ?? null;
    try {
      for (const each of await notDurable(read)) found.add(each);
    } catch (error) {
      if (replyCode(error) === null) throw error;
      found.add(CONFIG_REFUSED);
    }
  }
  return [...found];
}
