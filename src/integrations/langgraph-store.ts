import type { Memory } from "../domain/memory.js";
import type { Owner } from "../domain/owner.js";
import { handlePartsOf, knownOptions, type Maitred, type MaitredUser, serverPartsOf } from "../library/library.js";
import type { Clock } from "../platform/clock.js";
import { insteadOf, invalidField } from "../platform/errors.js";
import { isId } from "../platform/ids.js";
import { KeyedMutex } from "../platform/keyed-mutex.js";
import type { Memories } from "../ports/memories.js";
import { everyItem } from "../ports/pages.js";
import {
  addressesOf,
  type GetOperation,
  isFilter,
  isStoreTag,
  type ListNamespacesOperation,
  MAX_TAIL_AND_KEY_CHARS,
  matches,
  matchesConditions,
  type Operation,
  type PutOperation,
  type SearchOperation,
  type StoreAddress,
  type StoreItem,
  statementIn,
  storedValue,
  tagOf,
} from "./langgraph-value.js";
import { frameworkPart } from "./of-user.js";

/** The parts of `@langchain/langgraph` that the store stands on; handed in, so that Maitred works with the version that the caller has. */
export interface LangGraph<Base> {
  /** From `@langchain/langgraph` or `@langchain/langgraph-checkpoint`. */
  readonly BaseStore: Base;
}

export interface MemoryStoreOptions {
  /** What `createMaitred` gave. */
  readonly maitred: Maitred;
  /** The namespace of a user's memories, with `{user}` where the user's id stands. Default `["memories", "{user}"]`. */
  readonly namespace?: readonly string[];
  /**
   * The handle of a namespace's user. The namespaces that a graph asks for must come from the server's own knowledge of who the user is,
   * never from a model. Where the namespace has no `{user}` it is asked with "". Default: `(user) => maitred.for({ user })`.
   */
  readonly user?: (user: string) => MaitredUser | Promise<MaitredUser>;
  /** The field of a value that holds the sentence that is remembered. Default `text`. */
  readonly textField?: string;
}

const OPTIONS = { maitred: true, namespace: true, user: true, textField: true } as const satisfies Record<keyof MemoryStoreOptions, true>;

const USER = "{user}";
/** Memories of a user that a list looks at, at most; a search by a query that also filters looks at one page of the best. */
const MAX_LOOKED_AT = 1_000;
const PAGE = 200;

/**
 * LangGraph's `BaseStore` over Maitred's memories: `graph.compile({ store: memoryStore({ BaseStore }, { maitred }) })`.
 * A search finds what was put, and what Maitred has
 * learnt of the user in conversations; those lie in the user's namespace itself, under the memory's id.
 *
 * A value is a sentence about the user, in `textField` (1 to 500 characters), with what a memory has beside it: `category`, `aspect`,
 * `type`, `strength`, `subject`, `scope`, `valid_until`, `tags`. Any other field is refused (INVALID_REQUEST): what is remembered is told
 * to a model, shown to the user and forgotten at their word, and a memory has no place for data that nobody reads. Such data belongs into a
 * store of its own. What is put counts as stated by the user's own hand: active at once, without the checks that what is said in a
 * conversation passes; so a model should put what the user said, and not what it makes of it. A secret is refused with MEMORY_REFUSED.
 *
 * What LangGraph's own store does otherwise: a statement that says the same as a known one is that memory, under both keys, and one that
 * replaces another takes it out of the store; `index` is not heeded, all is searched by its sentence; a namespace that names no user is
 * refused, so that no search goes over several users; below the user's namespace, labels and key have at most 57 characters together.
 * Operations of one batch see what was there before it.
 * @throws INVALID_CONFIG where `maitred` is missing, INVALID_REQUEST where `BaseStore` is, UNKNOWN_FIELD for another option, SHUTTING_DOWN
 */
export function memoryStore<Base extends abstract new (...args: never[]) => object>(
  langgraph: LangGraph<Base>,
  options: MemoryStoreOptions,
): InstanceType<Base> {
  const items = new MemoryItems(options);
  const Parent = frameworkPart(langgraph?.BaseStore, "BaseStore", "@langchain/langgraph") as unknown as new () => object;
  class MaitredMemoryStore extends Parent {
    async batch(operations: readonly Operation[]): Promise<unknown[]> {
      const results: unknown[] = [];
      const puts = new Map<string, PutOperation>();
      for (const operation of operations) {
        if ("value" in operation) puts.set(JSON.stringify([operation.namespace, operation.key]), operation);
        results.push("value" in operation ? undefined : await items.read(operation));
      }
      for (const put of puts.values()) await items.put(put);
      return results;
    }
  }
  return new MaitredMemoryStore() as unknown as InstanceType<Base>;
}

/** A user's place in the store: whose it is, and what of a namespace comes behind it. */
interface Place {
  readonly owner: Owner;
  readonly root: readonly string[];
  readonly tail: readonly string[];
}

class MemoryItems {
  readonly #memories: Memories;
  readonly #namespace: readonly string[];
  readonly #user: (user: string) => MaitredUser | Promise<MaitredUser>;
  readonly #field: string;
  readonly #clock: Clock;
  readonly #alone = new KeyedMutex();

  constructor(options: MemoryStoreOptions) {
    const { maitred, namespace = ["memories", USER], user, textField = "text" } = knownOptions<MemoryStoreOptions>(options, OPTIONS);
    const { clock, asked } = serverPartsOf(maitred);
    asked();
    const { memories, for: handleOf } = maitred as Maitred;
    this.#memories = memories;
    this.#namespace = namespace;
    this.#user = user ?? ((id) => handleOf({ user: id }));
    this.#field = textField;
    this.#clock = clock;
  }

  read(operation: GetOperation | SearchOperation | ListNamespacesOperation): Promise<unknown> {
    if ("namespacePrefix" in operation) return this.#search(operation);
    return "key" in operation ? this.#get(operation) : this.#listNamespaces(operation);
  }

  /** One after the other for a user: two puts of one key are one memory. */
  async put({ namespace, key, value }: PutOperation): Promise<void> {
    const place = await this.#placeOf(namespace);
    const { owner, tail } = place;
    const memories = this.#memories;
    const tag = tagOf({ tail, key });
    return this.#alone.run(owner, async () => {
      const known = await this.#find(place, key);
      const now = this.#clock.now();
      if (value === null) {
        if (known !== null) await memories.forget(owner, known.id, { now });
        return;
      }
      if (tag === null) throw invalidField("/key", `with the labels below the user's more than ${MAX_TAIL_AND_KEY_CHARS} characters`);
      const { tags = [], ...said } = statementIn(value, this.#field);
      if (known !== null) {
        const kept = known.tags.filter(isStoreTag);
        await memories.patch(owner, known.id, { ...said, tags: [...new Set([...tags, ...kept, tag])] }, { now });
        return;
      }
      const memory = await memories.add(owner, { ...said, tags: [...tags, tag] }, { now });
      // It was known already: by this key too, from now on.
      if (!memory.tags.includes(tag)) await memories.patch(owner, memory.id, { tags: [...memory.tags, tag] }, { now });
    });
  }

  async #get({ namespace, key }: GetOperation): Promise<StoreItem | null> {
    const place = await this.#placeOf(namespace);
    const memory = await this.#find(place, key);
    return memory === null ? null : this.#itemOf(memory, place, { tail: place.tail, key });
  }

  async #search({ namespacePrefix, filter = {}, limit = 10, offset = 0, query }: SearchOperation): Promise<readonly StoreItem[]> {
    if (!isFilter(filter)) throw invalidField("/filter", "not an object of values and of `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`");
    const place = await this.#placeOf(namespacePrefix);
    const found: StoreItem[] = [];
    const all = place.tail.length === 0 && Object.keys(filter).length === 0;
    for await (const memory of this.#looked(place.owner, query, all ? offset + limit : PAGE)) {
      const address = addressesOf(memory).find(({ tail }) => place.tail.every((label, at) => tail[at] === label));
      if (address === undefined) continue;
      const item = this.#itemOf(memory, place, address);
      if (matches(item.value, filter)) found.push(item);
      if (found.length >= offset + limit) break;
    }
    return found.slice(offset, offset + limit);
  }

  async #listNamespaces(operation: ListNamespacesOperation): Promise<readonly string[][]> {
    const { matchConditions = [], maxDepth, limit = 100, offset = 0 } = operation;
    const prefix = matchConditions.find(({ matchType }) => matchType === "prefix")?.path ?? [];
    const { owner, root } = await this.#placeOf(prefix);
    const found = new Map<string, string[]>();
    for await (const memory of this.#looked(owner, undefined, PAGE))
      for (const { tail } of addressesOf(memory)) {
        const whole = [...root, ...tail];
        const cut = whole.slice(0, maxDepth ?? whole.length);
        if (matchesConditions(whole, matchConditions)) found.set(JSON.stringify(cut), cut);
      }
    const sorted = [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, namespace]) => namespace);
    return sorted.slice(offset, offset + limit);
  }

  /** What holds: by likeness, or the newest first. */
  async *#looked(owner: Owner, query: string | undefined, best: number): AsyncGenerator<Memory & { readonly score?: number }> {
    const memories = this.#memories;
    if (query !== undefined && query.trim() !== "") {
      yield* await memories.search(owner, { text: query, limit: Math.max(1, Math.min(best, PAGE)) });
      return;
    }
    let looked = 0;
    for await (const memory of everyItem((at) => memories.list(owner, { limit: PAGE, ...at }))) {
      yield memory;
      if (++looked === MAX_LOOKED_AT) return;
    }
  }

  /** By its key; one that was not put, by its id. */
  async #find({ owner, tail }: Place, key: string): Promise<Memory | null> {
    const memories = this.#memories;
    const tag = tagOf({ tail, key });
    const put = tag === null ? undefined : (await memories.list(owner, { tag, limit: 1 })).data[0];
    if (put !== undefined) return put;
    if (tail.length > 0 || !isId(key)) return null;
    const memory = await memories.get(owner, key).catch(insteadOf("MEMORY_NOT_FOUND", null));
    return memory?.status === "active" && addressesOf(memory).some((address) => address.key === key) ? memory : null;
  }

  #itemOf(memory: Memory & { readonly score?: number }, { root }: Place, { tail, key }: StoreAddress): StoreItem {
    return {
      value: storedValue(memory, this.#field),
      key,
      namespace: [...root, ...tail],
      createdAt: new Date(memory.created_at),
      updatedAt: new Date(memory.updated_at),
      ...(memory.score !== undefined && { score: memory.score }),
    };
  }

  /** @throws INVALID_REQUEST for one that names no user, INVALID_USER_ID */
  async #placeOf(namespace: readonly string[]): Promise<Place> {
    const pattern = this.#namespace;
    const root = namespace.slice(0, pattern.length);
    const tail = namespace.slice(pattern.length);
    const fits = root.length === pattern.length && pattern.every((label, at) => label === USER || label === root[at]);
    const labels = namespace.every((label) => typeof label === "string" && label !== "" && !/[.:*]/.test(label));
    if (!fits || !labels)
      throw invalidField(
        "/namespace",
        `a namespace of this store is ${JSON.stringify(pattern)} or below it, and \`*\` stands for no label`,
      );
    const user = await this.#user(root[pattern.indexOf(USER)] ?? "");
    return { owner: await handlePartsOf(user).owner(), root, tail };
  }
}
