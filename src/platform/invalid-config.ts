import { readFile } from "node:fs/promises";
import { AppError, type AppErrorOptions, type ErrorDetail } from "./errors.js";

/** Told of each place that is wrong, a line each. */
export function invalidConfig(errors: readonly ErrorDetail[], more: Pick<AppErrorOptions, "hint" | "cause"> = {}): AppError {
  return new AppError("INVALID_CONFIG", { detail: errors.map(({ detail }) => detail).join("\n"), errors, ...more });
}

/** What is wrong with a variable, or with the file that it names. `why` follows the variable's name in the message. */
export function wrongVariable(variable: string, why: string, cause?: unknown): AppError {
  return new AppError("INVALID_CONFIG", { detail: `${variable}: ${why}`, errors: [{ pointer: `/${variable}`, detail: why }], cause });
}

/** What the JSON file holds that a variable names. @throws INVALID_CONFIG where it can't be read or is no JSON; no text of it is told */
export async function readNamedJson(variable: string, path: string): Promise<unknown> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw wrongVariable(variable, "can't be read", cause);
  });
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own words quote the file, which may hold secrets.
    throw wrongVariable(variable, "is not JSON");
  }
}
