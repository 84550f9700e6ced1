import { z } from "zod";
import { text, variable } from "./variable.js";

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
    "by which of DATABASE_URL, REDIS_URL, FIRESTORE_PROJECT and COSMOS_ENDPOINT is set first, else `file`",
    "Where sessions, owners and the memory log are kept: `file`, `postgres`, `redis`, `firestore`, `cosmos`, or `memory` (nothing is " +
      "kept).",
  ),
  DATABASE_URL: variable(
    text.regex(/^postgres(ql)?:\/\/\S+$/, "a postgres:// URL").optional(),
    "",
    "A PostgreSQL, 13 or newer: `postgres://user:password@host:5432/database`. Needs `npm install pg`.",
  ),
  DATABASE_SCHEMA: variable(
    text.regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/, "letters, digits and `_` only").default("maitred"),
    "maitred",
    "Its schema: one per installation.",
  ),
  REDIS_URL: variable(
    text.regex(/^rediss?:\/\/\S+$/, "a redis:// URL").optional(),
    "",
    "A Redis or Valkey, 6.2 or newer, or any node of a Cluster: `redis://user:password@host:6379/0`; `rediss://` for TLS. Needs " +
      "`npm install ioredis`.",
  ),
  REDIS_PREFIX: variable(
    text.regex(/^[A-Za-z0-9_-]{1,63}$/, "letters, digits, `_` and `-` only").default("maitred"),
    "maitred",
    "What its keys begin with: one per installation.",
  ),
  REDIS_DURABILITY: variable(
    z.enum(["strict", "relaxed"]).default("strict"),
    "strict",
    "`relaxed`: also a configuration that may lose what was acknowledged; /readyz then says so.",
  ),
  FIRESTORE_PROJECT: variable(
    text.regex(/^[a-z][a-z0-9-]{2,62}$/, "a project's id: small letters, digits and `-`").optional(),
    "GOOGLE_CLOUD_PROJECT where SHORT_TERM_BACKEND is `firestore`",
    "A project of Google Cloud with a Firestore in native mode. Needs `npm install @google-cloud/firestore` and credentials as Google's " +
      "client finds them.",
  ),
  FIRESTORE_DATABASE: variable(
    text.regex(/^(\(default\)|[a-z][a-z0-9-]{2,62})$/, "`(default)`, or small letters, digits and `-`").default("(default)"),
    "(default)",
    "Its database: one per installation.",
  ),
  FIRESTORE_EMULATOR_HOST: variable(
    text.regex(/^[^\s/]+:\d+$/, "host:port").optional(),
    "",
    "Google's emulator, `host:port`, which keeps nothing. Refused where NODE_ENV is `production`.",
  ),
  COSMOS_ENDPOINT: variable(
    text.regex(/^https?:\/\/\S+$/, "an http(s) URL").optional(),
    "",
    "An account of Azure Cosmos DB for NoSQL with the consistency Strong or Bounded Staleness: `https://account.documents.azure.com`. " +
      "Needs `npm install @azure/cosmos` and COSMOS_KEY.",
  ),
  COSMOS_KEY: variable(text.optional(), "", "Its primary or secondary key."),
  COSMOS_DATABASE: variable(
    text.regex(/^[A-Za-z0-9_-]{1,63}$/, "letters, digits, `_` and `-` only").default("maitred"),
    "maitred",
    "Its database, made where it is not there: one per installation.",
  ),
} as const;
