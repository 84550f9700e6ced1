import { AppError } from "../../../platform/errors.js";
import { newId } from "../../../platform/ids.js";
import { assertSameLayout } from "../../../platform/storage-errors.js";
import type { EngineManifest } from "../../engine.js";
import { asStorageError, type RedisConnection, replyCode } from "./redis-connection.js";
import { SIGN } from "./scripts.js";

/** 2: a session's row names its turns by place. */
const LAYOUT = 2;

/** Where the installation's id lies: in one place, and on a Cluster with each shard of the index too, so that it is on all servers. */
export type Places = readonly [first: string, ...others: readonly string[]];

/** The id of the installation that all processes with this prefix are; the first makes it. @throws STORAGE_UNAVAILABLE */
export async function openInstallation(connection: RedisConnection, prefix: string, [first, ...others]: Places): Promise<string> {
  const [known, layout] = (await connection.command("HMGET", first, "id", "layout")) as readonly (string | null)[];
  if (layout != null) assertSameLayout(`What Redis holds under ${prefix} is`, layout, LAYOUT, "name another REDIS_PREFIX");
  if (known == null && (await holdsFormerLayout(connection, prefix)))
    throw new AppError("STORAGE_UNAVAILABLE", {
      detail: `Under ${prefix} lies what a version before partitions wrote, which this one can't read.`,
      hint: "Set another REDIS_PREFIX, or export from the former version and import here.",
    });
  const [id] = await connection.run(SIGN, { installation: first }, newId(), LAYOUT);
  for (const installation of others) await connection.run(SIGN, { installation }, String(id), LAYOUT);
  return String(id);
}

/** Writes to all places, and looks whether they are the installation's that was opened. @throws STORAGE_UNAVAILABLE */
export async function isInstallation(connection: RedisConnection, places: Places, id: string): Promise<boolean> {
  const found = await Promise.all(places.map((installation) => connection.run(SIGN, { installation }, "", "")));
  return found.every(([each]) => each === id);
}

async function holdsFormerLayout(connection: RedisConnection, prefix: string): Promise<boolean> {
  const former = ["installation", "hints:owners", "hints:due", "hints:told"].map((name) => `${prefix}:${name}`);
  const found = await Promise.all(former.map((key) => connection.command("EXISTS", key)));
  return found.includes(1);
}

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
