import { AppError } from "../../../platform/errors.js";
import { missingPackage } from "../../../platform/optional-package.js";
import { isLate, type Refusal, type ServiceErrors, serviceErrors } from "../../service-errors.js";

/** Of `@azure/cosmos`, an optional peer, what the engine uses. */
export interface CosmosClient {
  getDatabaseAccount(): Promise<{ readonly resource?: { readonly consistencyPolicy: string } }>;
  readonly databases: { createIfNotExists(database: { readonly id: string }): Promise<{ readonly database: Database }> };
  dispose(): void;
}

interface Database {
  readonly containers: { createIfNotExists(container: object): Promise<MadeContainer> };
}

interface MadeContainer {
  readonly container: Container;
  /** As it is. */
  readonly resource?: ContainerDefinition;
}

export interface ContainerDefinition {
  readonly partitionKey?: { readonly paths: readonly string[] };
  readonly indexingPolicy?: { readonly includedPaths?: readonly { readonly path: string }[] };
}

export interface Container {
  item(id: string, partition: string): { read(): Promise<ItemAnswer> };
  readonly items: {
    batch(operations: readonly Operation[], partition: string): Promise<{ readonly result?: readonly Outcome[] }>;
    query(query: QuerySpec, options: { readonly partitionKey?: string }): { fetchAll(): Promise<{ readonly resources: readonly Item[] }> };
  };
}

export type Item = Readonly<Record<string, unknown>>;

interface ItemAnswer {
  readonly statusCode: number;
  readonly resource?: Item;
  readonly headers: Readonly<Record<string, unknown>>;
}

interface QuerySpec {
  readonly query: string;
  readonly parameters: readonly { readonly name: string; readonly value: string | number }[];
}

export type Operation =
  | { readonly operationType: "Create" | "Upsert"; readonly resourceBody: Item }
  | { readonly operationType: "Replace"; readonly id: string; readonly ifMatch: string; readonly resourceBody: Item }
  | { readonly operationType: "Delete"; readonly id: string };

interface Outcome {
  readonly statusCode: number;
  readonly eTag?: string;
}

export interface CosmosAddress {
  readonly endpoint: string;
  readonly key: string;
}

const PACKAGE = "@azure/cosmos";

/** @throws INVALID_CONFIG where the package isn't installed */
export async function cosmosClient({ endpoint, key }: CosmosAddress, waitMs: number): Promise<CosmosClient> {
  let library: unknown;
  try {
    library = await import(PACKAGE);
  } catch (cause) {
    throw missingPackage({ name: PACKAGE, setting: "COSMOS_ENDPOINT" }, cause);
  }
  const { CosmosClient: Client } = library as { readonly CosmosClient: new (settings: object) => CosmosClient };
  const retryOptions = { maxRetryAttemptCount: 9, fixedRetryIntervalInMilliseconds: 0, maxWaitTimeInSeconds: Math.ceil(waitMs / 1_000) };
  return new Client({ endpoint, key, connectionPolicy: { requestTimeout: waitMs, retryOptions } });
}

/** By the status: what happened, and what to do about it. */
const REFUSALS: Readonly<Record<number, Refusal>> = {
  400: ["Cosmos DB takes the request for invalid.", "Check COSMOS_ENDPOINT and COSMOS_DATABASE."],
  401: ["Cosmos DB refuses the key.", "Check COSMOS_KEY: a primary or secondary key of the account."],
  403: [
    "Cosmos DB does not let this key or this address do it, or the partition is full.",
    "Give COSMOS_KEY a read-write key, let the account's firewall pass this machine; one user's data is 20 GB at most.",
  ],
  404: ["Cosmos DB's database or container is gone.", "Restore it, or name another with COSMOS_DATABASE, and start again."],
  429: ["Cosmos DB's throughput is used up.", "Raise the container's request units; with the same Idempotency-Key nothing is done twice."],
};
/** Not answered: what may go well a little later. */
const PASSING = [404, 408, 429, 449, 500, 503];
/** Of a batch that was refused as a whole the client hands on the words alone. */
const WORDS = [
  ["authorization token", 401],
  ["request rate is large", 429],
  ["size is too large", 413],
  ["authorized", 403],
  ["blocked", 403],
  ["forbidden", 403],
] as const;

/** Statuses by which a batch says that its head is not as it was read, or that another one is just being written: nothing came of it. */
const CONFLICTS = [404, 409, 412, 449];

/** Null: all was written. `conflict`: nothing was, as somebody else was faster. @throws STORAGE_UNAVAILABLE, COMMIT_TOO_LARGE */
export function conflictIn(outcomes: readonly { readonly statusCode: number }[]): "conflict" | null {
  // One that failed makes all others 424: nothing came of them.
  const failed = outcomes.find(({ statusCode }) => statusCode >= 400 && statusCode !== 424);
  if (failed === undefined) return null;
  if (CONFLICTS.includes(failed.statusCode)) return "conflict";
  throw COSMOS_ERRORS.errorOf(Object.assign(new Error("A batch was refused."), { code: failed.statusCode }));
}

const failures = serviceErrors({
  name: "Cosmos DB",
  codeOf,
  refusalOf: (error) => REFUSALS[Number(codeOf(error))],
  mayPass: (error) => {
    const code = codeOf(error);
    return typeof code !== "number" || PASSING.includes(code);
  },
  advice: "Check COSMOS_ENDPOINT, and that Cosmos DB can be reached from here.",
});

/** @throws COMMIT_TOO_LARGE beside what all such errors are */
export const COSMOS_ERRORS: ServiceErrors = {
  ...failures,
  errorOf: (error) =>
    codeOf(error) === 413
      ? new AppError("COMMIT_TOO_LARGE", { detail: "A commit that is more than Cosmos DB takes at once." })
      : failures.errorOf(error),
};

export function codeOf(error: unknown): number | string | undefined {
  if (!(error instanceof Error)) return undefined;
  // Its own code is a number of another kind.
  if (isLate(error)) return "no answer in time";
  if ("code" in error && (typeof error.code === "number" || typeof error.code === "string")) return error.code;
  const said = error.message.toLowerCase();
  return WORDS.find(([words]) => said.includes(words))?.[1];
}

/** A server's clock, by the `Date` of its answers, which is whole seconds: this machine's own, where that does not contradict them. */
export class ServerClock {
  /** Of the server's clock before the process's own, in milliseconds. */
  #earliest = Number.NEGATIVE_INFINITY;
  #latest = Number.POSITIVE_INFINITY;

  /** An answer to what was asked at `askedMs`, by `performance.now()`. */
  observe(date: unknown, askedMs: number): void {
    const second = typeof date === "string" ? Date.parse(date) : Number.NaN;
    if (Number.isNaN(second)) return;
    const [earliest, latest] = [second - performance.now(), second + 1_000 - askedMs];
    this.#earliest = Math.max(this.#earliest, earliest);
    this.#latest = Math.min(this.#latest, latest);
    // One that was set anew counts from now on.
    if (this.#earliest > this.#latest) [this.#earliest, this.#latest] = [earliest, latest];
  }

  nowMs(): number {
    const own = Date.now() - performance.now();
    return performance.now() + Math.min(Math.max(own, this.#earliest), this.#latest);
  }
}
