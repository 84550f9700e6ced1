import type { RedisDatabase } from "./database.js";

/** The id of the installation that all processes with this prefix are: the one that the first of them came with. */
export async function agreedInstallation(database: RedisDatabase, own: string): Promise<string> {
  const key = `${database.prefix}:installation`;
  await database.command("SET", key, own, "NX");
  return String((await database.command("GET", key)) ?? own);
}
