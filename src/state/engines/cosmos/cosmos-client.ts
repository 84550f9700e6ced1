import { missingPackage } from "../../../platform/optional-package.js";

/** Of `@azure/cosmos`, an optional peer, what the engine uses. */
export interface CosmosClient {
  getDatabaseAccount(): Promise<{ readonly resource?: { readonly consistencyPolicy: string } }>;
  readonly databases: { createIfNotExists(database: { readonly id: string }): Promise<{ readonly database: Database }> };
  dispose(): void;
}

interface Database {
  readonly containers: { createIfNotExists(container: object): Promise<{ readonly container: Container }> };
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

export interface QuerySpec {
  readonly query: string;
  readonly parameters: readonly { readonly name: string; readonly value: string | number }[];
}

export type Operation =
  | { readonly operationType: "Create" | "Upsert"; readonly resourceBody: Item }
  | { readonly operationType: "Replace"; readonly id: string; readonly ifMatch: string; readonly resourceBody: Item }
  | { readonly operationType: "Delete"; readonly id: string };

export interface Outcome {
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
