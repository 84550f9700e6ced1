import { MEMORY_TYPES, type MemoryType } from "../../domain/memory.js";
import { AppError } from "../../platform/errors.js";

const DEFAULT_COLLECTION = "memory";

/** A collection for each kind of memory; preferences and constraints, which every turn reads, stay together in `memory`. */
export const BY_TYPE = {
  fact: "memory_semantic",
  episodic: "memory_episodic",
  procedural: "memory_procedural",
  summary: "memory_summary",
  narrative: "memory_narrative",
} as const satisfies Partial<Record<MemoryType, string>>;

/**
 * Decides which collection a memory lies in, by its type. By default all lie in one, `memory`, told apart by their type;
 * types that are given a collection of their own (`{ episodic: "memory_episodic" }`) go there. Everything is read in all of them.
 */
export class MemoryRouter {
  readonly #own: ReadonlyMap<MemoryType, string>;
  readonly #rest: string;
  readonly #alsoIn: readonly string[];

  /**
   * `alsoIn`: collections that nothing is written to, and that still hold memories.
   * @throws INVALID_CONFIG for names that are no collection names, or that Mem0 keeps for itself
   */
  constructor(
    options: { readonly collection?: string; readonly own?: Partial<Record<MemoryType, string>>; readonly alsoIn?: readonly string[] } = {},
  ) {
    this.#rest = checkName(options.collection ?? DEFAULT_COLLECTION);
    this.#alsoIn = (options.alsoIn ?? []).map(checkName);
    this.#own = new Map(
      MEMORY_TYPES.flatMap((type) => {
        const name = options.own?.[type];
        return name === undefined ? [] : [[type, checkName(name)]];
      }),
    );
  }

  collectionOf(type: MemoryType): string {
    return this.#own.get(type) ?? this.#rest;
  }

  /** Each collection once: a memory stays where it was written, also when its type is given a collection later. */
  collections(): readonly string[] {
    return [...new Set([this.#rest, ...this.#own.values(), ...this.#alsoIn])];
  }
}

function checkName(name: string): string {
  if (/^[a-z][a-z0-9_-]{0,62}$/.test(name) && name !== "memory_migrations" && !name.endsWith("_entities")) return name;
  throw new AppError("INVALID_CONFIG", {
    detail: `"${name}" can't name a collection of memories.`,
    hint: "Use lower-case letters, digits, `_` and `-`; `memory_migrations` and names that end in `_entities` are Mem0's own.",
  });
}
