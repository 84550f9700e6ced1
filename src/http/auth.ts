import type { Config } from "../compose/config.js";
import type { Clock } from "../platform/clock.js";
import { openApiKeyAuth } from "./auth-api-key.js";
import { headerAuth } from "./auth-header.js";
import { openJwtAuth } from "./auth-jwt.js";
import { localAuth } from "./auth-local.js";
import type { Authenticator } from "./authenticator.js";

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
