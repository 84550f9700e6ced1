import type { Queries } from "./database.js";

/** The id of the installation that all processes on these tables are: the one that the first of them came with. */
export async function agreedInstallation(database: Queries, own: string): Promise<string> {
  await database.run("INSERT INTO {installation} (id) VALUES ($1) ON CONFLICT DO NOTHING", [own]);
  const [row] = await database.query("SELECT id FROM {installation}");
  return String(row?.id ?? own);
}
