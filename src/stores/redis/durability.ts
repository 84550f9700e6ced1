/** `strict`: what may lose an acknowledged write is refused at start. `relaxed`: it is used, and told. */
export type Durability = "strict" | "relaxed";

/** Settings that lose what was acknowledged unless they have this value. */
const SAFE: Readonly<Record<string, string>> = {
  appendonly: "yes",
  appendfsync: "always",
  "no-appendfsync-on-rewrite": "no",
  "maxmemory-policy": "noeviction",
};

/** Reads one setting of one server; null where the server has none of that name. @throws where CONFIG is refused */
export type ReadSetting = (name: string) => Promise<string | null>;

/** What the configuration of a server doesn't make durable, for people: empty where nothing is. */
export async function notDurable(read: ReadSetting): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [name, safe] of Object.entries(SAFE)) {
    const value = await read(name);
    if (value === null) found.push(`${name} can't be read`);
    else if (value !== safe) found.push(`${name} is ${value}, not ${safe}`);
  }
  return found;
}

/** Where a service lets nobody read its configuration. */
export const CONFIG_REFUSED = "CONFIG is refused, so that nobody can tell whether writes are synced";
