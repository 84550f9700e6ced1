import { hash, timingSafeEqual } from "node:crypto";
import { AppError } from "../platform/errors.js";
import type { Identity } from "./http-env.js";

export interface Credentials {
  readonly method: string;
  readonly url: string;
  header(name: string): string | undefined;
  /** As it came. */
  readonly request: Request;
}

/** One way to know who the user is. */
export interface Authenticator {
  /** What a 401's `WWW-Authenticate` says. */
  readonly challenge: string;
  /**
   * Refuses requests that a foreign page or host name may have caused; runs on every path, before anything else.
   * @throws FORBIDDEN_ORIGIN
   */
  guard(request: Credentials): void;
  /** @throws UNAUTHENTICATED, INVALID_USER_ID, IDENTITY_UNAVAILABLE */
  identify(request: Credentials): Identity | Promise<Identity>;
  /**
   * The tenant of a trusted backend, which speaks for itself and no user; null: these credentials are some user's. Default: there is no
   * such backend. @throws UNAUTHENTICATED
   */
  backend?(request: Credentials): string | null;
}

/** The token of `Authorization: Bearer …`. @throws UNAUTHENTICATED */
export function bearerToken(authorization: string | undefined): string {
  const match = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(authorization ?? "");
  if (match?.[1] === undefined) throw new AppError("UNAUTHENTICATED", { detail: "There is no bearer token." });
  return match[1];
}

/**
 * A header's value as text. HTTP hands bytes over as Latin-1; where they are UTF-8, that is what was meant,
 * so that a user's name is the same in a header and in a token.
 */
export function headerText(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of one byte
  if (!/^[\u0000-\u00ff]*[\u0080-\u00ff][\u0000-\u00ff]*$/.test(value)) return value;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(value, "latin1"));
  } catch {
    return value;
  }
}

/**
 * Whether a page of this server made the request, by the host that the browser asked for, which a proxy may hand on under another name.
 * A page can't set either header.
 */
export function isOwnOrigin(origin: string, request: Pick<Credentials, "header" | "url">): boolean {
  const hosts = [request.header("Host") ?? new URL(request.url).host, request.header("X-Forwarded-Host")];
  return hosts.some((host) => host !== undefined && (origin === `https://${host}` || origin === `http://${host}`));
}

/** What a trusted backend asks for its whole tenant, and no user may. */
const BACKEND_PATHS = ["/v1/events", "/v1/identities"];

export function isBackendPath(path: string): boolean {
  return BACKEND_PATHS.some((each) => path === each || path.startsWith(`${each}/`));
}

/** The backend's tenant. @throws UNAUTHENTICATED, NOT_FOUND for a user, to whom there is no such route */
export async function tenantOfBackend(auth: Authenticator, credentials: Credentials): Promise<string> {
  const tenant = auth.backend?.(credentials) ?? null;
  if (tenant !== null) return tenant;
  await auth.identify(credentials);
  throw new AppError("NOT_FOUND", { hint: "For a trusted backend alone: an API key whose user is null." });
}

/** Tells who holds a secret that a variable names. */
export interface SharedSecret {
  readonly isSet: boolean;
  /** By an `Authorization: Bearer …`; the time tells nothing. False where it is not set. */
  heldBy(authorization: string | undefined): boolean;
}

export function sharedSecret(secret: string | undefined): SharedSecret {
  const digest = (text: string) => hash("sha256", text, "buffer");
  const expected = secret === undefined ? null : digest(secret);
  return {
    isSet: expected !== null,
    heldBy: (authorization) => {
      const [, given] = /^Bearer +(\S+)$/i.exec(authorization ?? "") ?? [];
      return expected !== null && given !== undefined && timingSafeEqual(digest(given), expected);
    },
  };
}
