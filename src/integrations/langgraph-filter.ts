import { isDeepStrictEqual } from "node:util";

/** Filters of LangGraph's stores: a field's value, or comparisons of it. */
type Filter = Readonly<Record<string, unknown>>;

const COMPARISONS: Readonly<Record<string, (value: unknown, other: unknown) => boolean>> = {
  $eq: (value, other) => isDeepStrictEqual(value, other),
  $ne: (value, other) => !isDeepStrictEqual(value, other),
  $gt: (value, other) => ordered(value, other, (order) => order > 0),
  $gte: (value, other) => ordered(value, other, (order) => order >= 0),
  $lt: (value, other) => ordered(value, other, (order) => order < 0),
  $lte: (value, other) => ordered(value, other, (order) => order <= 0),
};

/** Whether it is one that {@link matches} understands. */
export function isFilter(filter: unknown): filter is Filter {
  if (!isObject(filter)) return false;
  return Object.values(filter).every(
    (wanted) => !compares(wanted) || Object.keys(wanted).every((operator) => Object.hasOwn(COMPARISONS, operator)),
  );
}

export function matches(value: Readonly<Record<string, unknown>>, filter: Filter): boolean {
  return Object.entries(filter).every(([field, wanted]) => {
    const has = Object.hasOwn(value, field) ? value[field] : undefined;
    if (!compares(wanted)) return isDeepStrictEqual(has, wanted);
    return Object.entries(wanted).every(([operator, other]) => COMPARISONS[operator]?.(has, other) ?? false);
  });
}

/** `*` in a condition stands for any label. */
export function matchesConditions(namespace: readonly string[], conditions: readonly MatchCondition[]): boolean {
  return conditions.every(({ matchType, path }) => {
    const from = matchType === "prefix" ? 0 : namespace.length - path.length;
    return from >= 0 && path.every((label, at) => label === "*" || label === namespace[from + at]);
  });
}

function compares(wanted: unknown): wanted is Filter {
  return isObject(wanted) && Object.keys(wanted).some((key) => key.startsWith("$"));
}

function isObject(value: unknown): value is Filter {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Numbers with numbers, texts with texts (so times of one form too). */
function ordered(value: unknown, other: unknown, holds: (order: number) => boolean): boolean {
  if (typeof value === "number" && typeof other === "number") return holds(value - other);
  if (typeof value !== "string" || typeof other !== "string") return false;
  return holds(value < other ? -1 : Number(value > other));
}

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

interface MatchCondition {
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
