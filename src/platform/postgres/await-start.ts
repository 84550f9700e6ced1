import { awaitStart } from "../await-start.js";
import type { Logger } from "../logger.js";
import { mayPass, reasonOf } from "./postgres-errors.js";

/** As {@link awaitStart}, of PostgreSQL. @throws STORAGE_UNAVAILABLE that names DATABASE_URL */
export function awaitPostgres<T>(
  start: () => Promise<T>,
  { url, waitMs, logger }: { readonly url: string; readonly waitMs: number; readonly logger: Logger },
): Promise<T> {
  const hintOf = () => "Check DATABASE_URL (address, user, password, database), and that the server runs.";
  return awaitStart(start, { name: `PostgreSQL at ${addressOf(url)}`, hintOf, waitMs, logger, mayPass, reasonOf });
}

/** Without who logs in, and how. */
function addressOf(url: string): string {
  if (!URL.canParse(url)) return "the address of DATABASE_URL";
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
