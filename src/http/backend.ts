import type { Context } from "hono";
import { AppError } from "../platform/errors.js";
import type { HttpEnv } from "./http-env.js";

/** What only a trusted backend asks for, of all users of its tenant: it names none by `X-User-Id`. */
const PREFIXES = ["/v1/identities/"] as const;

/** `path`: below the base path. */
export function isForBackends(path: string): boolean {
  return PREFIXES.some((prefix) => path.startsWith(prefix));
}

/** The tenant for whose users the caller speaks. @throws BACKEND_ONLY for a user */
export function backendTenant(c: Context<HttpEnv>): string {
  const { speaksFor } = c.get("identity");
  if (speaksFor === undefined) throw new AppError("BACKEND_ONLY");
  return speaksFor;
}
