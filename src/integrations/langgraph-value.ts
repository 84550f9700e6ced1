import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { type Memory, type MemoryPatch, STATED_TYPES } from "../domain/memory.js";
import { AppError } from "../platform/errors.js";
import { nearestName } from "../platform/nearest-name.js";

/** What a value may say beside its sentence: what a memory has a place for. */
const beside = {
  category: z.string().min(1).max(64).optional(),
  aspect: z.string().max(64).optional(),
  type: z.enum(STATED_TYPES).exclude(["summary"]).optional(),
  strength: z.enum(["hard", "soft"]).optional(),
  subject: z.string().optional(),
  scope: z.enum(["standing", "trip"]).optional(),
  valid_until: z.string().nullable().optional(),
  tags: z
    .array(
      z
        .string()
        .min(1)
        .max(64)
        .refine((tag) => !isStoreTag(tag), "such tags are the store's own"),
    )
    .max(24)
    .optional(),
};
type Stated = MemoryPatch & { readonly text: string };

const NAMES = Object.keys(beside);

/** The statement that a value makes. @throws INVALID_REQUEST naming each field that is wrong or has no place in a memory */
export function statementIn(value: Readonly<Record<string, unknown>>, field: string): Stated {
  const { [field]: text, ...rest } = value;
  const parsed = z.strictObject({ ...beside, text: z.string().min(1) }).safeParse({ ...rest, text });
  if (parsed.success) {
    const given = Object.entries(parsed.data).filter(([, each]) => each !== undefined);
    return Object.fromEntries(given) as unknown as Stated;
  }
  const errors = parsed.error.issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys") return issue.keys.map((key) => ({ pointer: `/value/${key}`, detail: noPlaceFor(key, field) }));
    const [first, ...below] = issue.path.map(String);
    return [{ pointer: ["/value", first === "text" ? field : first, ...below].join("/"), detail: issue.message }];
  });
  throw new AppError("INVALID_REQUEST", { detail: errors.map(({ pointer, detail }) => `${pointer}: ${detail}`).join("\n"), errors });
}

function noPlaceFor(key: string, field: string): string {
  const meant = nearestName(key, [field, ...NAMES]);
  const hint = meant === undefined ? `a memory is a sentence in \`${field}\`` : `did you mean \`${meant}\`?`;
  return `a memory has no place for it; ${hint}`;
}

/** A memory as a store's value: what {@link statementIn} takes, without what is empty. */
export function storedValue(memory: Memory, field: string): Readonly<Record<string, unknown>> {
  const { text, category, aspect, type, strength, subject, scope, valid_until, tags } = memory;
  const own = tags.filter((tag) => !isStoreTag(tag));
  return {
    [field]: text,
    category,
    ...(aspect !== "" && { aspect }),
    type,
    strength,
    subject,
    scope,
    ...(valid_until !== null && { valid_until }),
    ...(own.length > 0 && { tags: own }),
  };
}

/** Where a memory lies below its user's namespace: the labels behind it, and its key. */
export interface StoreAddress {
  readonly tail: readonly string[];
  readonly key: string;
}

/** A memory keeps where it was put as a tag: `store.work.food:key`. Labels hold neither `.` nor `:`. */
const TAG = "store";
const MAX_TAG_CHARS = 64;
/** Labels and key, each with the mark before it. */
export const MAX_TAIL_AND_KEY_CHARS = MAX_TAG_CHARS - TAG.length - 2;

/** Null where it is too long for a tag. */
export function tagOf({ tail, key }: StoreAddress): string | null {
  const tag = `${TAG}${tail.map((label) => `.${label}`).join("")}:${key}`;
  return key !== "" && tag.length <= MAX_TAG_CHARS ? tag : null;
}

export function isStoreTag(tag: string): boolean {
  return tag.startsWith(`${TAG}:`) || tag.startsWith(`${TAG}.`);
}

/** One that was not put lies in the user's namespace itself, under its id. */
export function addressesOf({ id, tags }: Memory): readonly StoreAddress[] {
  const put = tags.filter(isStoreTag).flatMap((tag) => {
    const colon = tag.indexOf(":");
    if (colon === -1) return [];
    const labels = tag.slice(0, colon).split(".").slice(1);
    return [{ tail: labels, key: tag.slice(colon + 1) }];
  });
  return put.length > 0 ? put : [{ tail: [], key: id }];
}

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
