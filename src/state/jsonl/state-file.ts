import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../platform/errors.js";
import { errnoOf } from "../../platform/file-system.js";

/** In the storage directory, of an installation on one machine: all state but the journals. */
export const STATE_FILE = "state.db";

/** Where older versions kept what stands in {@link STATE_FILE} now, beside `owners/*.jsonl`. */
const FORMER = ["index.db", "bookings.db"];
const FORMER_LOG = /\.jsonl$/;

/**
 * A directory of before would be taken for one whose state was lost, and its users' memories with it.
 * @throws INVALID_CONFIG
 */
export async function requireNotFormer(dir: string): Promise<void> {
  const names = await namesIn(dir);
  if (names.includes(STATE_FILE)) return;
  const found = FORMER.find((name) => names.includes(name)) ?? (await formerLogIn(dir));
  if (found === undefined) return;
  throw new AppError("INVALID_CONFIG", {
    detail: `MEMORY_STORAGE_DIR: ${dir} was written by an older version: it holds ${found} and no ${STATE_FILE}.`,
    hint: "Set another MEMORY_STORAGE_DIR; to take users along, export each with the older version and `maitred import` them here.",
  });
}

async function formerLogIn(dir: string): Promise<string | undefined> {
  const name = (await namesIn(join(dir, "owners"))).find((each) => FORMER_LOG.test(each));
  return name === undefined ? undefined : join("owners", name);
}

async function namesIn(dir: string): Promise<readonly string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}
