import type { Config } from "../compose/config.js";
import { reachable } from "../platform/directory-lock.js";
import { AppError, isAppError } from "../platform/errors.js";

export interface InUseParts {
  /** Where the server listens that has the directory; null where its holder is no server. */
  readonly serverOf: (config: Config) => Promise<string | null>;
}

/** Opens; where another process has the directory, says what to do: commands go through a server, as one of its users or its operator. */
export async function unlessInUse<T>(
  config: Config,
  { serverOf }: InUseParts,
  as: "user" | "operator",
  open: () => Promise<T>,
): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!isAppError(error, "STORAGE_IN_USE")) throw error;
    const url = await serverOf(config);
    const isServer = url === null ? ", if it is a server," : "";
    const how = as === "operator" ? ", with its OPERATOR_TOKEN in MAITRED_OPERATOR_TOKEN" : "";
    const hint = `Stop it, or${isServer} send this command through it: --url ${url ?? configuredUrl(config)}${how}`;
    throw new AppError("STORAGE_IN_USE", { detail: error.message, hint, cause: error });
  }
}

export function configuredUrl({ HOST, PORT }: Pick<Config, "HOST" | "PORT">): string {
  return reachable(`http://${HOST.includes(":") ? `[${HOST}]` : HOST}:${PORT}`);
}
