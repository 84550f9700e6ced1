import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from "jose";
import type { Config } from "../compose/config.js";
import { DEFAULT_TENANT, ownerOf } from "../domain/owner.js";
import type { Clock } from "../platform/clock.js";
import { AppError } from "../platform/errors.js";
import { wrongVariable } from "../platform/invalid-config.js";
import { isTimeZone } from "../platform/time-zone.js";
import { type Authenticator, bearerToken } from "./authenticator.js";

export type JwtConfig = Pick<Config, "JWT_SECRET" | "JWKS_URL" | "JWT_ISSUER" | "JWT_AUDIENCE" | "JWT_TENANT_CLAIM" | "JWT_SUBJECT_PREFIX">;

/** Pinned by the kind of key: a public key can never be taken for a shared secret, and `none` is in neither list. */
const SHARED_SECRET_ALGORITHMS = ["HS256"];
const PUBLIC_KEY_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"];
/** An HS256 secret shorter than its hash can be guessed (RFC 7518, 3.2). */
const MIN_SECRET_BYTES = 32;
const CLOCK_TOLERANCE_SECONDS = 5;

export interface JwksTiming {
  /** Least time between two fetches for keys that are not known. Default 30,000. */
  readonly cooldownMs?: number;
  /** Default 5,000. */
  readonly timeoutMs?: number;
}

type Verify = (token: string, options: JWTVerifyOptions) => Promise<JWTPayload>;

function sharedSecret(secret: string): Verify {
  const key = new TextEncoder().encode(secret);
  if (key.byteLength < MIN_SECRET_BYTES) throw wrongVariable("JWT_SECRET", `needs at least ${MIN_SECRET_BYTES} bytes`);
  return async (token, options) => (await jwtVerify(token, key, { ...options, algorithms: SHARED_SECRET_ALGORITHMS })).payload;
}

/** Keys are fetched when first needed, cached, and fetched again when a token names one that is not known. */
function remoteKeys(url: string, timing: JwksTiming): Verify {
  const keys = createRemoteJWKSet(new URL(url), {
    cooldownDuration: timing.cooldownMs ?? 30_000,
    cacheMaxAge: 600_000,
    timeoutDuration: timing.timeoutMs ?? 5_000,
  });
  return async (token, options) => (await jwtVerify(token, keys, { ...options, algorithms: PUBLIC_KEY_ALGORITHMS })).payload;
}

/** What the caller may hear: that the token failed, and why in jose's stable words; a key server out of reach is not the caller's fault. */
function refused(error: unknown): AppError {
  const bad =
    error instanceof errors.JWTExpired ||
    error instanceof errors.JWTClaimValidationFailed ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JOSENotSupported ||
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys;
  if (!bad) return new AppError("IDENTITY_UNAVAILABLE", { cause: error });
  const expired = error instanceof errors.JWTExpired;
  return new AppError("UNAUTHENTICATED", { detail: expired ? "The token has expired." : "The token is not valid.", cause: error });
}

/** @throws INVALID_CONFIG for both or neither of JWT_SECRET and JWKS_URL, or a short secret */
export function openJwtAuth(config: JwtConfig, clock: Clock, timing: JwksTiming = {}): Authenticator {
  if ((config.JWT_SECRET === undefined) === (config.JWKS_URL === undefined))
    throw wrongVariable("JWT_SECRET", "set either this or JWKS_URL");
  const verify = config.JWT_SECRET === undefined ? remoteKeys(config.JWKS_URL ?? "", timing) : sharedSecret(config.JWT_SECRET);
  return {
    challenge: 'Bearer realm="maitred", error="invalid_token"',
    guard() {},
    async identify(request) {
      const token = bearerToken(request.header("Authorization"));
      const claims = await verify(token, {
        requiredClaims: ["sub", "exp"],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: clock.now(),
        ...(config.JWT_ISSUER === undefined ? {} : { issuer: config.JWT_ISSUER }),
        ...(config.JWT_AUDIENCE === undefined ? {} : { audience: config.JWT_AUDIENCE }),
      }).catch((error: unknown) => {
        throw refused(error);
      });
      const tenant = claims[config.JWT_TENANT_CLAIM] ?? DEFAULT_TENANT;
      if (typeof claims.sub !== "string" || typeof tenant !== "string")
        throw new AppError("UNAUTHENTICATED", { detail: "The token's subject or tenant is not text." });
      const prefix = config.JWT_SUBJECT_PREFIX ?? "";
      if (!claims.sub.startsWith(prefix))
        throw new AppError("UNAUTHENTICATED", { detail: "The token's subject is not one of this server's." });
      // Standard claims (OpenID Connect Core 1.0, 5.1).
      const { name, zoneinfo } = claims;
      return {
        owner: ownerOf(tenant, claims.sub.slice(prefix.length)),
        ...(typeof name === "string" ? { displayName: name.slice(0, 256) } : {}),
        ...(typeof zoneinfo === "string" && isTimeZone(zoneinfo) ? { timeZone: zoneinfo } : {}),
        ...(claims.iss === undefined ? {} : { provider: claims.iss.slice(0, 256) }),
      };
    },
  };
}
