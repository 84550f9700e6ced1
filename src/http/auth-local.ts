import { isIPv4 } from "node:net";
import { DEFAULT_TENANT, ownerOf, plainUser } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import { invalidConfig } from "../platform/invalid-config.js";
import { type Authenticator, type Credentials, headerText } from "./authenticator.js";

const LOCAL_USER = "local-user";

/** True for the names and addresses that only this machine can reach. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  return name === "localhost" || name === "::1" || (isIPv4(name) && name.startsWith("127."));
}

/** `local` mode knows nobody's credentials, so it must not be reachable from elsewhere. @throws INVALID_CONFIG */
export function requireLoopback(authMode: string, host: string): void {
  if (authMode !== "local" || isLoopback(host)) return;
  const detail = `HOST: ${host} can be reached by other machines, and AUTH_MODE=local lets everyone in; use 127.0.0.1, or another mode`;
  throw invalidConfig([{ pointer: "/HOST", detail }]);
}

/**
 * For one person on their own machine. A page of another site must not get through: its name may resolve to 127.0.0.1
 * (DNS rebinding: `Host` is checked), or it may post a form here (CSRF: `Origin` and `Sec-Fetch-Site` are checked).
 */
export function localAuth({ allowedOrigins }: { readonly allowedOrigins: readonly string[] }): Authenticator {
  return {
    challenge: 'Local realm="maitred"',
    guard(request) {
      const url = new URL(request.url);
      const host = request.header("Host") ?? url.host;
      if (!isLoopback(url.hostname) || !isLoopback(hostName(host)))
        throw new AppError("FORBIDDEN_ORIGIN", { detail: "The Host is not this machine." });
      refuseForeignOrigin(request, host, allowedOrigins);
    },
    identify(request) {
      const user = request.header("X-User-Id");
      return { owner: ownerOf(DEFAULT_TENANT, user === undefined ? LOCAL_USER : plainUser(headerText(user))), provider: "local" };
    },
  };
}

function hostName(host: string): string {
  try {
    return new URL(`http://${host}`).hostname;
  } catch {
    return "";
  }
}

/**
 * A browser names the page that a request comes from; only our own and the configured ones may.
 * @throws FORBIDDEN_ORIGIN
 */
function refuseForeignOrigin(request: Credentials, host: string, allowed: readonly string[]): void {
  const origin = request.header("Origin");
  if (origin !== undefined) {
    if (allowed.includes(origin) || origin === `http://${host}` || origin === `https://${host}`) return;
    throw new AppError("FORBIDDEN_ORIGIN", { detail: "The Origin is not allowed." });
  }
  const site = request.header("Sec-Fetch-Site");
  const foreign = site === "cross-site" || site === "same-site";
  if (foreign && /^\/(v1\/|mcp$)/.test(new URL(request.url).pathname))
    throw new AppError("FORBIDDEN_ORIGIN", { detail: "Another site made this request." });
}
