/** LangGraph's operations on a store and what it reads back, as far as the store over memories stands on them. */

export interface GetOperation {
  readonly namespace: readonly string[];
  readonly key: string;
}

export interface SearchOperation {
  readonly namespacePrefix: readonly string[];
  readonly filter?: unknown;
  readonly limit?: number;
  readonly offset?: number;
  readonly query?: string;
}

export interface PutOperation {
  readonly namespace: readonly string[];
  readonly key: string;
  /** Null: deletes the item. */
  readonly value: Readonly<Record<string, unknown>> | null;
}

export interface ListNamespacesOperation {
  readonly matchConditions?: readonly MatchCondition[];
  readonly maxDepth?: number;
  readonly limit: number;
  readonly offset: number;
}

export interface MatchCondition {
  readonly matchType: "prefix" | "suffix";
  readonly path: readonly string[];
}

export type Operation = GetOperation | SearchOperation | PutOperation | ListNamespacesOperation;

export interface StoreItem {
  readonly value: Readonly<Record<string, unknown>>;
  readonly key: string;
  readonly namespace: string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Of a search with a query. */
  readonly score?: number;
}
