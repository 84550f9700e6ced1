import { createHash, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { DEFAULT_TENANT, ownerOf, plainUser } from "../domain/owner.js";
import { AppError } from "../platform/errors.js";
import { readNamedJson, wrongVariable } from "../platform/invalid-config.js";
import { type Authenticator, bearerToken, type Credentials, headerText } from "./authenticator.js";

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
export async function openApiKeyAuth(path: string | undefined): Promise<Authenticator> {
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
