import { z } from "zod";
import { type Category, categoriesSchema } from "../domain/categories.js";
import type { RetentionPolicy } from "../domain/lifecycle.js";
import { type Owner, ownerOf, parseOwner } from "../domain/owner.js";
import { type ErrorDetail, pointerTo } from "../platform/errors.js";
import { invalidConfig, readNamedJson } from "../platform/invalid-config.js";
import { nearestName } from "../platform/nearest-name.js";
import type { ChatModel } from "../ports/agent.js";

/** What one tenant has of its own. What isn't set is as it is for everybody else. */
export interface TenantSettings {
  /**
   * The model that answers: the name of one of the provider's, or a model of one's own. It also reads, summarises and names, as far as
   * `EXTRACTION_MODEL`, `SUMMARY_MODEL` and `TITLE_MODEL` don't say otherwise; a model of one's own does all of it.
   */
  readonly model?: string | ChatModel | undefined;
  /** The system prompt, instead of the product's: stable, without dates or user data. 1 to 100,000 characters. */
  readonly prompt?: string | undefined;
  /** What is remembered, by category, instead of the product's; one of them is `other`. */
  readonly categories?: readonly Category[] | undefined;
  /** Days until retention takes a session; 0: never. A number is `active` alone. */
  readonly retentionDays?: number | TenantRetentionDays | undefined;
}

/** In days; 0: never. What isn't set is as for everybody else (`RETENTION_ACTIVE_DAYS` and its like). */
export interface TenantRetentionDays {
  /** Without activity, until an active session is deleted (recoverable). */
  readonly active?: number | undefined;
  /** The same for an archived one. */
  readonly archived?: number | undefined;
  /** For which a deleted session can be restored. */
  readonly deleted?: number | undefined;
}

/** By the tenant's name: as keys, tokens and `maitred.for({ tenant })` name it. */
export type Tenants = Readonly<Record<string, TenantSettings>>;

const days = z.number().int().min(0).max(36_500).optional();
const common = {
  prompt: z
    .string()
    .max(100_000)
    .refine((text) => text.trim() !== "", "must not be blank")
    .optional(),
  categories: categoriesSchema.optional(),
};
const retentionDays = z.union([z.number().int().min(0).max(36_500), z.strictObject({ active: days, archived: days, deleted: days })], {
  error: "a whole number of days from 0 to 36500, or an object of them: `active`, `archived`, `deleted`",
});
const modelName = z.string().trim().min(1).max(256);

/** As a file has them, in snake case. */
const inFile = z.strictObject({ ...common, model: modelName.optional(), retention_days: retentionDays.optional() });
const inCode = z.strictObject({
  ...common,
  model: z
    .union([modelName, z.custom<ChatModel>(isModel)], { error: "the name of a model, or a model of one's own with `name` and `stream`" })
    .optional(),
  retentionDays: retentionDays.optional(),
});

function isModel(value: unknown): value is ChatModel {
  return typeof value === "object" && value !== null && "name" in value && "stream" in value && typeof value.stream === "function";
}

/** Options as they were given. @throws INVALID_CONFIG naming each setting that is wrong or unknown */
export function checkedTenants(given: unknown): Tenants {
  return checked(given, inCode, "tenants", (at) => `/tenants${at}`) as Tenants;
}

/** @throws INVALID_CONFIG for a file that can't be read, naming the place of each setting that is wrong or unknown */
export async function readTenants(path: string | undefined): Promise<Tenants> {
  if (path === undefined) return {};
  const read = checked(await readNamedJson("TENANTS_FILE", path), inFile, "TENANTS_FILE", () => "/TENANTS_FILE");
  return Object.fromEntries(
    Object.entries(read).map(([tenant, { retention_days: retentionDays, ...same }]) => [
      tenant,
      { ...same, ...(retentionDays !== undefined && { retentionDays }) },
    ]),
  ) as Tenants;
}

/** Settings by tenant; in both: the first ones, whole. */
export function tenantSettings(first: Tenants, second: Tenants): ByTenant<TenantSettings> {
  return new ByTenant<TenantSettings>({}, new Map([...Object.entries(second), ...Object.entries(first)]));
}

/** A tenant's days over everybody's. */
export function retentionOf({ retentionDays: own }: TenantSettings, all: RetentionPolicy): RetentionPolicy {
  const { active, archived, deleted } = typeof own === "number" ? { active: own } : (own ?? {});
  return { activeDays: active ?? all.activeDays, archivedDays: archived ?? all.archivedDays, deletedDays: deleted ?? all.deletedDays };
}

function checked<S extends z.ZodObject>(
  given: unknown,
  schema: S,
  name: string,
  pointer: (at: string) => string,
): Record<string, z.output<S>> {
  const list = z.record(z.string(), z.unknown()).safeParse(given);
  const wrong = (path: readonly PropertyKey[], why: string): ErrorDetail => {
    const at = pointerTo(path);
    return { pointer: pointer(at), detail: `${name}: ${at === "" ? "" : `${at}: `}${why}` };
  };
  if (!list.success) throw invalidConfig([wrong([], 'an object of settings by tenant, such as {"acme":{"model":"…"}}')]);
  const errors: ErrorDetail[] = [];
  const read: [string, z.output<S>][] = [];
  for (const [tenant, settings] of Object.entries(list.data)) {
    if (!canName(tenant)) errors.push(wrong([tenant], "can't name a tenant"));
    const parsed = schema.safeParse(settings);
    if (parsed.success) read.push([tenant, parsed.data]);
    else
      for (const issue of parsed.error.issues)
        for (const { path, why } of problemsOf(issue, schema)) errors.push(wrong([tenant, ...path], why));
  }
  if (errors.length > 0) throw invalidConfig(errors);
  return Object.fromEntries(read);
}

interface Problem {
  readonly path: readonly PropertyKey[];
  readonly why: string;
}

/** One for each key that isn't known, with the nearest that is. */
function problemsOf(issue: z.core.$ZodIssue, schema: z.ZodObject): readonly Problem[] {
  if (issue.code !== "unrecognized_keys") return [{ path: issue.path, why: issue.message }];
  const known = issue.path.length === 0 ? Object.keys(schema.shape) : [];
  return issue.keys.map((key) => {
    const meant = nearestName(key, known);
    return { path: [...issue.path, key], why: `there is no such setting${meant === undefined ? "" : `; did you mean \`${meant}\`?`}` };
  });
}

function canName(tenant: string): boolean {
  try {
    return ownerOf(tenant, "x") !== "";
  } catch {
    return false;
  }
}

/** A thing that some tenants have of their own: theirs by their names, and the one of everybody else. */
export class ByTenant<T> {
  readonly rest: T;
  readonly #own: ReadonlyMap<string, T>;

  constructor(rest: T, own: ReadonlyMap<string, T> = new Map()) {
    this.rest = rest;
    this.#own = own;
  }

  of(owner: Owner): T {
    if (this.#own.size === 0) return this.rest;
    return this.#own.get(parseOwner(owner).tenant) ?? this.rest;
  }

  /** Everybody's first. */
  get all(): readonly T[] {
    return [this.rest, ...this.#own.values()];
  }

  /** The same for what follows from each: made once for each, in turn, everybody's first. */
  async map<U>(make: (value: T) => U | Promise<U>): Promise<ByTenant<U>> {
    const rest = await make(this.rest);
    const own = new Map<string, U>();
    for (const [tenant, value] of this.#own) own.set(tenant, await make(value));
    return new ByTenant(rest, own);
  }
}
