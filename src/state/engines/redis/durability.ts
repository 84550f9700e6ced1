import type { EngineManifest } from "../../engine.js";
import type { RedisConnection } from "./redis-connection.js";
import { asStorageError, replyCode } from "./redis-errors.js";

/** `strict`: what may lose an acknowledged write is refused at the start, and down later. `relaxed`: it is used, and told. */
export type Durability = "strict" | "relaxed";

/** Settings that lose what was acknowledged unless they have this value. */
const SAFE: Readonly<Record<string, string>> = {
  appendonly: "yes",
  appendfsync: "always",
  "no-appendfsync-on-rewrite": "no",
  "maxmemory-policy": "noeviction",
};
const SYNCED_LATE = ["appendfsync", "no-appendfsync-on-rewrite"];

/** The settings of all servers that lose what was acknowledged, by name, with what is wrong about them. @throws STORAGE_UNAVAILABLE */
export async function lossySettings({ servers }: RedisConnection): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const look = async (server: RedisConnection["servers"][number], [name, safe]: [string, string]) => {
    const [, value] = (await server.call("CONFIG", ["GET", name])) as readonly string[];
    if (value !== safe) found.set(name, value === undefined ? `${name} can't be read` : `${name} is ${value}, not ${safe}`);
  };
  try {
    await Promise.all(servers.flatMap((server) => Object.entries(SAFE).map((setting) => look(server, setting))));
  } catch (error) {
    if (replyCode(error) === null) throw asStorageError(error);
    found.set("CONFIG", "CONFIG is refused, so that nobody can tell whether writes are synced");
  }
  return found;
}

/** What an acknowledged commit outlives with these. */
export function durabilityWith(lossy: ReadonlyMap<string, string>): EngineManifest["durability"] {
  if (lossy.size === 0) return "machine";
  return [...lossy.keys()].every((name) => SYNCED_LATE.includes(name)) ? "process" : "none";
}
