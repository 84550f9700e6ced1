import { hash, randomBytes } from "node:crypto";
import { awaitStart } from "../../platform/await-start.js";
import { AppError } from "../../platform/errors.js";
import type { Logger } from "../../platform/logger.js";
import { missingPackage } from "../../platform/optional-package.js";
import type { KeyVault } from "../../ports/key-vault.js";

/** Of `@aws-sdk/client-kms`, an optional peer, what is used. */
interface Kms {
  encrypt(input: {
    readonly KeyId: string;
    readonly Plaintext: Uint8Array;
    readonly EncryptionContext: Context;
  }): Promise<{ readonly CiphertextBlob?: Uint8Array; readonly KeyId?: string }>;
  decrypt(input: {
    readonly KeyId: string;
    readonly CiphertextBlob: Uint8Array;
    readonly EncryptionContext: Context;
  }): Promise<{ readonly Plaintext?: Uint8Array }>;
}
type Context = Readonly<Record<string, string>>;

export interface KmsOptions {
  /** A key's id, its ARN, or an alias as `alias/name`. */
  readonly key: string;
  readonly logger: Logger;
  /** How long a start waits for a KMS that does not answer, in milliseconds. Default 30,000. */
  readonly startupWaitMs?: number;
}

const PACKAGE: string = "@aws-sdk/client-kms";
/** Bound of one try, of which the client makes three, in milliseconds. */
const TIMEOUT_MS = 3_000;
const KEY_BYTES = 32;

/** What a request was refused for, and no later try is taken for: by the error's name, what to do. */
const REFUSED: Readonly<Record<string, string>> = {
  AccessDeniedException: "Let this server's role do kms:Encrypt and kms:Decrypt with the key.",
  NotFoundException: "Name a key of this account and region, or its whole ARN.",
  DisabledException: "Enable the key.",
  KMSInvalidStateException: "Enable the key; one that is pending deletion can be kept by cancelling that.",
  InvalidKeyUsageException: "Name a symmetric key that encrypts.",
  InvalidArnException: "Name a key's id, its ARN, or an alias as `alias/name`.",
  ValidationException: "Name a key's id, its ARN, or an alias as `alias/name`.",
  CredentialsProviderError: "Give the server credentials as any of AWS' tools has them: a role, or AWS_ACCESS_KEY_ID and its secret.",
  UnrecognizedClientException: "Give the server valid credentials of AWS.",
  InvalidSignatureException: "Give the server valid credentials of AWS.",
  ExpiredTokenException: "Give the server credentials that have not expired.",
};
/** What is unwrapped is not what was wrapped there, or under another context. */
const DAMAGED: readonly string[] = ["InvalidCiphertextException", "IncorrectKeyException"];

/**
 * Wraps data keys by a key of AWS KMS, which never leaves it. Of a data key's context KMS, and whoever reads its log, is sent a hash: it
 * names a user. What a key wrapped is unwrapped by that key, also where another one is named since.
 * @throws INVALID_CONFIG without the package, STORAGE_UNAVAILABLE where the key can't be used, with what to do
 */
export async function openAwsKms({ key, logger, startupWaitMs: waitMs = 30_000 }: KmsOptions): Promise<KeyVault> {
  const kms = await client(key);
  const encrypt = async (plaintext: Uint8Array, context: string) => {
    const { CiphertextBlob: blob, KeyId: keyId } = await asked(
      kms.encrypt({ KeyId: key, Plaintext: plaintext, EncryptionContext: contextOf(context) }),
      context,
    );
    if (blob === undefined || keyId === undefined) throw outOfReach("an answer without a key");
    return { wrapped: Buffer.from(blob).toString("base64"), keyId };
  };
  const unwrap: KeyVault["unwrap"] = async (wrapped, { keyId, context }) => {
    const input = { KeyId: keyId, CiphertextBlob: Buffer.from(wrapped, "base64"), EncryptionContext: contextOf(context) };
    const { Plaintext: bytes } = await asked(kms.decrypt(input), context);
    if (bytes === undefined) throw outOfReach("an answer without a key");
    return bytes;
  };
  // Both are tried: a server that may wrap and not unwrap would lose what it writes.
  const tried = async () => {
    const { wrapped, keyId } = await encrypt(randomBytes(KEY_BYTES), "start");
    await unwrap(wrapped, { keyId, context: "start" });
    return keyId;
  };
  const keyId = await awaitStart(tried, {
    name: `AWS KMS (${key})`,
    hintOf: ({ cause }) => REFUSED[nameOf(cause)] ?? "Check ENCRYPTION_KMS_KEY, AWS_REGION, and that KMS can be reached from here.",
    waitMs,
    logger,
    mayPass: ({ cause }) => !(nameOf(cause) in REFUSED),
  });
  return { keyId, wrap: async (bytes, context) => (await encrypt(bytes, context)).wrapped, unwrap };
}

/** Whether a key of KMS has this name: its ARN. */
export function isKmsKey(keyId: string): boolean {
  return keyId.startsWith("arn:");
}

async function client(key: string): Promise<Kms> {
  let library: unknown;
  try {
    library = await import(PACKAGE);
  } catch (cause) {
    throw missingPackage({ name: PACKAGE, setting: "ENCRYPTION_KMS_KEY" }, cause);
  }
  const { KMS: Client } = library as { readonly KMS: new (settings: object) => Kms };
  const region = isKmsKey(key) ? key.split(":")[3] : undefined;
  return new Client({ requestHandler: { connectionTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS }, ...(region && { region }) });
}

function contextOf(context: string): Context {
  return { maitred: hash("sha256", context) };
}

async function asked<T>(answer: Promise<T>, context: string): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    const name = nameOf(cause);
    if (!DAMAGED.includes(name)) throw outOfReach(name, cause);
    throw new AppError("INVALID_CONFIG", {
      detail: `The keyring is damaged: ${context} is not what KMS wrapped (${name}).`,
      hint: "Bring back the keyring that belongs to what is kept (`maitred keys load`). Nothing was changed.",
      cause,
    });
  }
}

/** At any time: KMS may be out of reach, or the key disabled, for a while. Its own words may name who asks. */
function outOfReach(why: string, cause?: unknown): AppError {
  const verb = why in REFUSED ? "refuses the key" : "gives no answer";
  return new AppError("STORAGE_UNAVAILABLE", { detail: `AWS KMS ${verb} (${why}).`, cause, retryAfterSeconds: 1 });
}

/** Of the client's errors the name tells what happened; of the network's the code. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return error.name === "Error" && "code" in error ? String(error.code) : error.name;
}
