import { z } from "zod";
import { flag, integer, optionalText, text, url, variable } from "./variable.js";

/** Where all state can be kept, with the variables that it can't be found without. */
export const ADDRESSES = {
  memory: [],
  file: [],
  postgres: ["DATABASE_URL"],
  redis: ["REDIS_URL"],
  firestore: ["FIRESTORE_PROJECT"],
  cosmos: ["COSMOS_ENDPOINT", "COSMOS_KEY"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type StatePlace = keyof typeof ADDRESSES;

/** Of those that an address names, the first is used. */
const BY_ADDRESS = ["postgres", "redis", "firestore", "cosmos"] as const satisfies readonly StatePlace[];

/** Where state is kept when only addresses are set. */
export function backendOf(values: Readonly<Record<(typeof ADDRESSES)[(typeof BY_ADDRESS)[number]][0], string | undefined>>): StatePlace {
  return BY_ADDRESS.find((place) => values[ADDRESSES[place][0]] !== undefined) ?? "file";
}

/** Variables of where state is kept, in the order of the table of variables. */
export const STATE_VARIABLES = {
  SHORT_TERM_BACKEND: variable(
    z.enum(Object.keys(ADDRESSES) as [StatePlace, ...StatePlace[]]).optional(),
    "Where sessions, owners and the memory log are kept: `file`, `postgres`, `redis`, `firestore`, `cosmos`, or `memory` (nothing is " +
      "kept). Also as `STATE_ENGINE`.",
    "by which of DATABASE_URL, REDIS_URL, FIRESTORE_PROJECT and COSMOS_ENDPOINT is set first, else `file`",
  ),
  DATABASE_URL: variable(
    text.regex(/^postgres(ql)?:\/\/\S+$/, "a postgres:// URL").optional(),
    "A PostgreSQL, 13 or newer: `postgres://user:password@host:5432/database`. Needs `npm install pg`.",
  ),
  DATABASE_SCHEMA: variable(
    text.regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/, "letters, digits and `_` only").default("maitred"),
    "Its schema: one per installation.",
  ),
  REDIS_URL: variable(
    text.regex(/^rediss?:\/\/\S+$/, "a redis:// URL").optional(),
    "A Redis or Valkey, 6.2 or newer, or any node of a Cluster: `redis://user:password@host:6379/0`; `rediss://` for TLS. Needs " +
      "`npm install ioredis`.",
  ),
  REDIS_PREFIX: variable(
    text.regex(/^[A-Za-z0-9_-]{1,63}$/, "letters, digits, `_` and `-` only").default("maitred"),
    "What its keys begin with: one per installation.",
  ),
  REDIS_DURABILITY: variable(
    z.enum(["strict", "relaxed"]).default("strict"),
    "`relaxed`: also a configuration that may lose what was acknowledged; /readyz then says so.",
  ),
  FIRESTORE_PROJECT: variable(
    text.regex(/^[a-z][a-z0-9-]{2,62}$/, "a project's id: small letters, digits and `-`").optional(),
    "A project of Google Cloud with a Firestore in native mode. Needs `npm install @google-cloud/firestore` and credentials as Google's " +
      "client finds them.",
    "GOOGLE_CLOUD_PROJECT where SHORT_TERM_BACKEND is `firestore`",
  ),
  FIRESTORE_DATABASE: variable(
    text.regex(/^(\(default\)|[a-z][a-z0-9-]{2,62})$/, "`(default)`, or small letters, digits and `-`").default("(default)"),
    "Its database: one per installation.",
  ),
  FIRESTORE_EMULATOR_HOST: variable(
    text.regex(/^[^\s/]+:\d+$/, "host:port").optional(),
    "Google's emulator, `host:port`, which keeps nothing. Refused where NODE_ENV is `production`.",
  ),
  COSMOS_ENDPOINT: variable(
    text.regex(/^https?:\/\/\S+$/, "an http(s) URL").optional(),
    "An account of Azure Cosmos DB for NoSQL with the consistency Strong or Bounded Staleness: `https://account.documents.azure.com`. " +
      "Needs `npm install @azure/cosmos` and COSMOS_KEY.",
  ),
  COSMOS_KEY: variable(text.optional(), "Its primary or secondary key. The emulator's is refused where NODE_ENV is `production`."),
  COSMOS_DATABASE: variable(
    text.regex(/^[A-Za-z0-9_-]{1,63}$/, "letters, digits, `_` and `-` only").default("maitred"),
    "Its database, made where it is not there: one per installation.",
  ),
} as const;

/** Of Microsoft's emulator, whoever runs it. */
export const COSMOS_EMULATOR_KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

export const ENCRYPTION_VARIABLES = {
  ENCRYPTION_KEY_FILE: variable(
    optionalText,
    "Encrypts what is kept: a file with the master key, 32 bytes in base64 or hex; a second line is the one before (`docs/operations.md`).",
  ),
  ENCRYPT_VECTORS: variable(
    flag.default(false),
    "Also seals dense vectors, which are searched in memory then: for users with up to some thousand memories and messages each.",
  ),
  ENCRYPTION_KMS_KEY: variable(
    optionalText,
    "The same under a key of AWS KMS: its id, ARN or alias, with `@aws-sdk/client-kms`. Beside a file, what that wrapped is still read.",
  ),
} as const;

export const VECTOR_STORES = ["local", "qdrant", "pgvector", "chroma", "state"] as const;
export type VectorStoreName = (typeof VECTOR_STORES)[number];

export const LOCAL_QDRANT_URL = "http://localhost:6333";

/** Variables of where vectors are kept, in the order of the table of variables. */
export const VECTOR_VARIABLES = {
  MEM0_PROVIDER: variable(
    z.enum(VECTOR_STORES).optional(),
    "Where long-term memory is stored: `local`, `qdrant`, `chroma`, `pgvector`, or `state`: with all else (`docs/engines.md`).",
    "`qdrant` when QDRANT_URL is set, else `local`",
  ),
  QDRANT_URL: variable(
    url.optional(),
    "A Qdrant server, 1.17 or newer. Needs `npm install @qdrant/js-client-rest`.",
    `${LOCAL_QDRANT_URL} where a \`qdrant\` backend is chosen`,
  ),
  QDRANT_API_KEY: variable(optionalText, "Its key."),
  CHROMA_URL: variable(url.optional(), "A Chroma server, 1.0 or newer: `http://127.0.0.1:8000`. Needs `npm install chromadb`."),
  VECTOR_CACHE_MIB: variable(
    integer(1, 65_536).default(256),
    "Memory for vectors and postings of the users seen last, with the local store, Chroma and `state`. All others' stay there.",
  ),
} as const;
