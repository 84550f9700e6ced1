import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import pg from "pg";

/** All that lies in a directory, whatever the file, as text of one byte a character. `except`: names of files that are left out. */
export async function keptInDirectory(dir: string, except: readonly string[] = []): Promise<string> {
  const texts: string[] = [];
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && !except.some((name) => entry.name.startsWith(name)))
      texts.push(await readFile(join(entry.parentPath, entry.name), "latin1"));
  return texts.join("\n");
}

/** Every row of every table of a schema. */
export async function keptInPostgres(url: string, schema: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query("SELECT table_name FROM information_schema.tables WHERE table_schema = $1", [schema]);
    const texts: string[] = [];
    for (const { table_name: table } of tables)
      for (const row of (await client.query(`SELECT * FROM "${schema}"."${table}"`)).rows)
        texts.push(
          Object.values(row)
            .map((value) => (Buffer.isBuffer(value) ? value.toString("latin1") : String(value)))
            .join(" "),
        );
    return texts.join("\n");
  } finally {
    await client.end();
  }
}

/** Every key with its value. */
export async function keptInRedis(url: string): Promise<string> {
  const client = new Redis(url);
  const read = {
    string: (key: string) => client.get(key),
    hash: (key: string) => client.hgetall(key),
    zset: (key: string) => client.zrange(key, 0, -1),
  };
  try {
    const texts: string[] = [];
    for (const key of await client.keys("*")) {
      const type = await client.type(key);
      if (!(type in read)) throw new Error(`a ${type} at ${key}`);
      texts.push(key, JSON.stringify(await read[type as keyof typeof read](key)));
    }
    return texts.join("\n");
  } finally {
    client.disconnect();
  }
}
