import { createHash, timingSafeEqual } from "node:crypto";
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from "jose";
import { z } from "zod";
import type { Config } from "../compose/config.js";
import { DEFAULT_TENANT, ownerOf, plainUser } from "../domain/owner.js";
import type { Clock } from "../platform/clock.js";
import { AppError } from "../platform/errors.js";
import { readNamedJson, wrongVariable } from "../platform/invalid-config.js";
import { isTimeZone } from "../platform/time-zone.js";
import { localAuth } from "./auth-local.js";
import { type Authenticator, bearerToken, type Credentials, headerText, isOwnOrigin } from "./authenticator.js";

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
function headerAuth(options: { readonly header: string; readonly allowedOrigins: readonly string[] }): Authenticator {
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

const keySchema = z.object({
  /** SHA-256 of the key, in hex: the file holds no key. */
  sha256: z.string().regex(/^[0-9a-fA-F]{64}$/, "64 hexadecimal digits"),
  tenant: z.string().default(DEFAULT_TENANT),
  /** Null: a trusted backend, which names the user by `X-User-Id`. */
  user: z.string().nullable(),
});

interface Key {
  readonly digest: Buffer;
  readonly tenant: string;
  readonly user: string | null;
}

const VARIABLE = "API_KEYS_FILE";
const refuse = (why: string) => wrongVariable(VARIABLE, why);

async function readKeys(path: string): Promise<Key[]> {
  const parsed = z
    .array(keySchema)
    .min(1)
    .safeParse(await readNamedJson(VARIABLE, path));
  if (!parsed.success) throw refuse(parsed.error.issues.map((issue) => `/${issue.path.join("/")}: ${issue.message}`).join("; "));
  const hashes = new Map<string, number>();
  for (const [place, { sha256 }] of parsed.data.entries()) {
    const before = hashes.get(sha256.toLowerCase());
    if (before !== undefined) throw refuse(`/${place}/sha256: the same key as /${before}; a key is one user's`);
    hashes.set(sha256.toLowerCase(), place);
  }
  for (const { tenant, user } of parsed.data) ownerOf(tenant, user ?? "x");
  return parsed.data.map(({ sha256, tenant, user }) => ({ digest: Buffer.from(sha256, "hex"), tenant, user }));
}

/** Compares with every key, whichever fits: the time tells nothing. */
function findKey(keys: readonly Key[], presented: string): Key | null {
  const digest = createHash("sha256").update(presented).digest();
  let found: Key | null = null;
  for (const key of keys) if (timingSafeEqual(key.digest, digest)) found = key;
  return found;
}

/** Keys are read once, at start. @throws INVALID_CONFIG */
async function openApiKeyAuth(path: string | undefined): Promise<Authenticator> {
  if (path === undefined) throw refuse("is not set");
  const keys = await readKeys(path);
  const keyOf = (request: Credentials) => {
    const key = findKey(keys, bearerToken(request.header("Authorization")));
    if (!key) throw new AppError("UNAUTHENTICATED", { detail: "The key is not known." });
    return key;
  };
  return {
    challenge: 'Bearer realm="maitred"',
    guard() {},
    backend(request) {
      const { tenant, user } = keyOf(request);
      return user === null ? tenant : null;
    },
    identify(request) {
      const key = keyOf(request);
      if (key.user !== null) return { owner: ownerOf(key.tenant, key.user), provider: "api-key" };
      const user = request.header("X-User-Id");
      if (user === undefined) throw new AppError("INVALID_USER_ID", { detail: "This key speaks for others: name the user by X-User-Id." });
      return { owner: ownerOf(key.tenant, plainUser(headerText(user))), provider: "api-key" };
    },
  };
}

type JwtConfig = Pick<Config, "JWT_SECRET" | "JWKS_URL" | "JWT_ISSUER" | "JWT_AUDIENCE" | "JWT_TENANT_CLAIM" | "JWT_SUBJECT_PREFIX">;

/** Pinned by the kind of key: a public key can never be taken for a shared secret, and `none` is in neither list. */
const SHARED_SECRET_ALGORITHMS = ["HS256"];
const PUBLIC_KEY_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"];
/** An HS256 secret shorter than its hash can be guessed (RFC 7518, 3.2). */
const MIN_SECRET_BYTES = 32;
const CLOCK_TOLERANCE_SECONDS = 5;

interface JwksTiming {
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
