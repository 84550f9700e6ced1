import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { AppError } from "../platform/errors.js";

/**
 * The process environment before `.env.local` before `.env`, both in `dir`; a file that isn't there is passed over.
 * An empty value in the environment counts as not set.
 */
export function readEnvironment(dir: string, env: NodeJS.ProcessEnv = process.env): Record<string, string | undefined> {
  const values: Record<string, string | undefined> = {};
  for (const file of [".env", ".env.local"]) Object.assign(values, readEnvFile(join(dir, file)));
  for (const [name, value] of Object.entries(env)) if (value !== undefined && value.trim() !== "") values[name] = value;
  return values;
}

function readEnvFile(path: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(path, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new AppError("INVALID_CONFIG", { detail: `${path} can't be read.`, cause: error });
  }
}
