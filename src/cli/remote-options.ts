import { readFile } from "node:fs/promises";
import { AppError } from "../platform/errors.js";
import type { RemoteOptions } from "./remote-backend.js";

/** What stands before or behind any command. */
export interface GlobalOptions {
  readonly json: boolean;
  readonly url?: string;
  /** The file of a domain; not with `url`. */
  readonly domain?: string;
  readonly user: string;
  readonly tenant: string;
  readonly token?: string;
  readonly tokenFile?: string;
}

/** @throws INVALID_REQUEST for what is no address */
export async function remoteOptions(
  parts: Pick<RemoteOptions, "fetch">,
  url: string,
  { user, token: given, tokenFile }: GlobalOptions,
): Promise<RemoteOptions> {
  if (!URL.canParse(url))
    throw new AppError("INVALID_REQUEST", { detail: "--url is not an address.", hint: "For example --url http://127.0.0.1:3000" });
  const token = given ?? (tokenFile === undefined ? null : (await readFile(tokenFile, "utf8")).trim());
  return { url, user, token, fetch: parts.fetch };
}
