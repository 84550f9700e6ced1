import type { Config } from "../compose/config.js";
import { AppError, isAppError } from "../platform/errors.js";
import { reachable } from "../platform/server-address.js";

export interface InUseParts {
  /** Where the server listens that has the directory; null where its holder is no server. */
  readonly serverOf: (config: Config) => Promise<string | null>;
}

/** Opens; where another process has the directory, says what to do: commands that the API has can go through a server. */
export async function unlessInUse<T>(
  config: Config,
  { serverOf }: InUseParts,
  options: { readonly throughServer: boolean },
  open: () => Promise<T>,
): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!isAppError(error, "STORAGE_IN_USE")) throw error;
    const hint = options.throughServer
      ? await throughServer(config, serverOf)
      : "This command works on the storage directory itself: stop that process first.";
    throw new AppError("STORAGE_IN_USE", { detail: error.message, hint, cause: error });
  }
}

async function throughServer(config: Config, serverOf: InUseParts["serverOf"]): Promise<string> {
  const url = await serverOf(config);
  if (url !== null) return `Stop it, or send this command through it: --url ${url}`;
  return `Stop it, or, if it is a server, send this command through it: --url ${configuredUrl(config)}`;
}

/** Where a server with this configuration would listen. */
export function configuredUrl({ HOST, PORT }: Pick<Config, "HOST" | "PORT">): string {
  return reachable(`http://${HOST.includes(":") ? `[${HOST}]` : HOST}:${PORT}`);
}
