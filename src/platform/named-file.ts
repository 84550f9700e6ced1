import { readFile } from "node:fs/promises";
import { AppError } from "./errors.js";

/** What is wrong with the file that a variable names. `why` follows the variable's name in the message. */
export function wrongFile(variable: string, why: string, cause?: unknown): AppError {
  return new AppError("INVALID_CONFIG", { detail: `${variable}: ${why}`, errors: [{ pointer: `/${variable}`, detail: why }], cause });
}

/** What the JSON file holds that a variable names. @throws INVALID_CONFIG where it can't be read or is no JSON; no text of it is told */
export async function readNamedJson(variable: string, path: string): Promise<unknown> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw wrongFile(variable, "can't be read", cause);
  });
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own words quote the file, which may hold secrets.
    throw wrongFile(variable, "is not JSON");
  }
}
