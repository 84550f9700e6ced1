import type { Config } from "../compose/config.js";
import { DEFAULT_TENANT, ownerOf, plainUser } from "../domain/owner.js";
import type { Clock } from "../platform/clock.js";
import { AppError } from "../platform/errors.js";
import { openApiKeyAuth } from "./auth-api-key.js";
import { openJwtAuth } from "./auth-jwt.js";
import { localAuth } from "./auth-local.js";
import { type Authenticator, headerText, isOwnOrigin } from "./authenticator.js";

export type AuthConfig = Pick<
  Config,
  | "AUTH_MODE"
  | "AUTH_HEADER"
  | "API_KEYS_FILE"
  | "JWT_SECRET"
  | "JWKS_URL"
  | "JWT_ISSUER"
  | "JWT_AUDIENCE"
  | "JWT_TENANT_CLAIM"
  | "JWT_SUBJECT_PREFIX"
  | "CORS_ORIGINS"
>;

/** @throws INVALID_CONFIG when keys can't be read or are not what they should be */
export async function openAuthenticator(config: AuthConfig, clock: Clock): Promise<Authenticator> {
  switch (config.AUTH_MODE) {
    case "local":
      return localAuth({ allowedOrigins: config.CORS_ORIGINS });
    case "header":
      return headerAuth({ header: config.AUTH_HEADER, allowedOrigins: config.CORS_ORIGINS });
    case "api-key":
      return openApiKeyAuth(config.API_KEYS_FILE);
    case "jwt":
      return openJwtAuth(config, clock);
  }
}

/** Who a request comes from, as the application around Maitred knows it. */
export interface IdentifiedUser {
  /** 1 to 256 characters without white space or control characters. */
  readonly user: string;
  /** Default: `default`. */
  readonly tenant?: string | undefined;
  /** For the page. */
  readonly displayName?: string | undefined;
  /** IANA name. Default: what the client says. */
  readonly timeZone?: string | undefined;
}

export type Identify = (request: Request) => IdentifiedUser | null | Promise<IdentifiedUser | null>;

/**
 * By a function of the application's. Its cookies travel with requests of foreign pages too: unsafe ones are refused, as in `header`
 * mode.
 */
export function ownAuth(identify: Identify, options: { readonly allowedOrigins: readonly string[] }): Authenticator {
  const { guard } = headerAuth({ header: "", ...options });
  return {
    challenge: 'Application realm="maitred"',
    guard,
    async identify({ request }) {
      const found = await identify(request);
      if (found === null) throw new AppError("UNAUTHENTICATED", { hint: "Sign in, and send the request again." });
      const { user, tenant = DEFAULT_TENANT, displayName, timeZone } = found;
      return { owner: ownerOf(tenant, user), ...(displayName && { displayName }), ...(timeZone && { timeZone }) };
    },
  };
}

const AZURE_PREFIX = /^(X-MS-CLIENT-PRINCIPAL)-ID$/i;

/**
 * A trusted proxy has signed the user in and names them in a header, which it must strip from what clients send.
 * Its cookies travel with requests of foreign pages too, so unsafe ones of those are refused.
 */
export function headerAuth(options: { readonly header: string; readonly allowedOrigins: readonly string[] }): Authenticator {
  const azure = AZURE_PREFIX.exec(options.header)?.[1];
  return {
    challenge: `Proxy realm="maitred", header="${options.header}"`,
    guard(request) {
      if (request.method === "GET" || request.method === "HEAD" || request.method === "OPTIONS") return;
      const origin = request.header("Origin");
      if (origin !== undefined && options.allowedOrigins.includes(origin)) return;
      const site = request.header("Sec-Fetch-Site");
      // Older browsers name the page alone.
      const foreign =
        site === undefined ? origin !== undefined && !isOwnOrigin(origin, request) : site !== "same-origin" && site !== "none";
      if (foreign) throw new AppError("FORBIDDEN_ORIGIN", { detail: "Another site made this request." });
    },
    identify(request) {
      const user = request.header(options.header);
      if (user === undefined || user.trim() === "")
        throw new AppError("UNAUTHENTICATED", { detail: `The header ${options.header} is missing.` });
      const name = azure && request.header(`${azure}-NAME`);
      const provider = azure && request.header(`${azure}-IDP`);
      return {
        owner: ownerOf(DEFAULT_TENANT, plainUser(headerText(user))),
        ...(name ? { displayName: headerText(name) } : {}),
        ...(provider ? { provider: headerText(provider) } : {}),
      };
    },
  };
}
