import type { CategoriesOf } from "../domain/categories.js";
import type { Memory, MemoryPatch, NewStatement } from "../domain/memory.js";
import { type MemoryRecord, memoryOf } from "../domain/memory-record.js";
import type { Owner } from "../domain/owner.js";
import { AppError, isAppError } from "../platform/errors.js";
import { derivedId, newId } from "../platform/ids.js";
import type { AddedMemory, Memories } from "../ports/memories.js";
import type { MemoryRequest } from "../ports/memory-log.js";
import type { RequestKey } from "../ports/request-key.js";
import type { Forgetting } from "./forgetting.js";
import type { MemoryChange, OwnerLogs } from "./owner-logs.js";
import type { OwnerMemories } from "./owner-memories.js";
import { type Reconciled, type ReconcileRules, reconcile, reconcileRecord } from "./reconcile.js";
import { ended } from "./record-changes.js";
import { byHand, editedByHand, patched, refuseNarrative } from "./stated-by-hand.js";
import { endOf } from "./statement-record.js";
import { approved, rejected } from "./waiting.js";

export interface StatingParts {
  readonly logs: OwnerLogs;
  readonly forgetting: Forgetting;
  readonly categoriesOf: CategoriesOf;
  readonly rules: (owner: Owner, now: Date) => Promise<ReconcileRules>;
  /** Says what statements are that name no category. */
  readonly read: (owner: Owner, given: readonly NewStatement[], at: At) => Promise<readonly NewStatement[]>;
}

/** `timeZone`: IANA name of where the guest is, for dates without a time. Default: UTC. */
type At = { readonly now: Date; readonly timeZone?: string };

/** What a guest does with memories by hand: state, edit, approve, reject. */
export class StatingByHand {
  readonly #parts: StatingParts;

  constructor(parts: StatingParts) {
    this.#parts = parts;
  }

  async add(owner: Owner, said: NewStatement, options: At & { readonly request?: StatementKey }): Promise<Memory> {
    const [read = said] = await this.#read(owner, [said], options);
    return this.#state(owner, read, options);
  }

  /** Read together, and then stated one after another: each is a change of its own. */
  async addAll(owner: Owner, said: readonly NewStatement[], options: Parameters<Memories["addAll"]>[2]): Promise<readonly AddedMemory[]> {
    const read = await this.#read(owner, said, options);
    const { request, ...at } = options;
    const outcomes: AddedMemory[] = [];
    let broken: AppError | null = null;
    let replayed = 0;
    const onReplay = () => {
      replayed += 1;
    };
    for (const [place, each] of read.entries()) {
      if (broken !== null) {
        outcomes.push({ error: broken });
        continue;
      }
      try {
        outcomes.push({ memory: await this.#state(owner, each, { ...at, ...(request && { request: { ...request, place, onReplay } }) }) });
      } catch (error) {
        if (!isAppError(error)) throw error;
        if (!isOfItself(error)) {
          if (!outcomes.some((outcome) => "memory" in outcome)) throw error;
          broken = error;
        }
        outcomes.push({ error });
      }
    }
    const kept = outcomes.filter((outcome) => "memory" in outcome).length;
    if (replayed > 0 && replayed === kept && broken === null) request?.onReplay?.();
    return outcomes;
  }

  /** In their order; what the request has stated before is not read again. */
  async #read(
    owner: Owner,
    said: readonly NewStatement[],
    { request, ...at }: At & { readonly request?: StatementKey },
  ): Promise<readonly NewStatement[]> {
    if (request === undefined) return this.#parts.read(owner, said, at);
    const memories = await this.#parts.logs.known(owner);
    const first = request.place ?? 0;
    const unstated = [...said.entries()].filter(([place]) => !isStated(owner, memories, { ...request, place: first + place }, at.now));
    const texts = unstated.map(([, each]) => each);
    const read = await this.#parts.read(owner, texts, at);
    const all = [...said];
    for (const [n, [place, each]] of unstated.entries()) all[place] = read[n] ?? each;
    return all;
  }

  async #state(owner: Owner, said: NewStatement, options: At & { readonly request?: StatementKey }): Promise<Memory> {
    const { request, now } = options;
    const given = byHand(said, this.#parts.categoriesOf(owner));
    // What a guest says by hand is as sure as it gets: the gate is for readers.
    const rules = { ...(await this.#parts.rules(owner, now)), minConfidence: 0 };
    const stated_at = now.toISOString();
    const statement = { ...given, valid_until: endOf(given, stated_at, options.timeZone) };
    return this.#change(owner, now, (memories) => {
      const { records } = memories;
      const before = request && statedBefore(owner, memories, request, now);
      if (before) return { entry: null, result: before.id };
      const id = request === undefined ? newId() : statedId(owner, memories, request);
      const change = { op: "add", id, target_id: null, statement, waits: null, stated_at, source: null } as const;
      const reconciled = reconcile(records.values(), [change], rules);
      const resolved = reconciled.resolved.get(id);
      if (resolved !== undefined) return stated(entryOf(reconciled.puts, resolved), request && loggedRequest(owner, request, resolved));
      if (reconciled.dropped.known !== undefined || reconciled.dropped.too_many_waiting !== undefined)
        throw new AppError("MEMORY_REFUSED", { errors: [{ pointer: "/text", detail: "It tells the assistant what to do." }] });
      throw new AppError("INVALID_REQUEST", { errors: [{ pointer: "/valid_until", detail: "It is over already, or was forgotten." }] });
    });
  }

  async patch(owner: Owner, id: string, given: MemoryPatch, { now, timeZone }: At): Promise<Memory> {
    const patch = editedByHand(given, this.#parts.categoriesOf(owner));
    const rules = await this.#parts.rules(owner, now);
    const [read] = patch.text === undefined ? [] : await this.#parts.read(owner, [{ text: patch.text }], { now });
    return this.#change(owner, now, ({ records }) => {
      const before = found(records, id);
      if (before.status !== "active" && before.status !== "review")
        throw new AppError("INVALID_REQUEST", { detail: "Only a memory that holds, or waits for approval, can be edited." });
      refuseNarrative(before);
      const edited = patched(before, patch, now, { timeZone, read });
      // A changed text is a new memory: text and vector are never changed in place, nor does a memory change its type there.
      const replaces = edited.text !== before.text || edited.type !== before.type;
      if (!replaces) return entryOf(reconcileRecord(records.values(), edited, rules).puts, id);
      const at = now.toISOString();
      const after: MemoryRecord = {
        ...edited,
        id: newId(),
        created_at: at,
        source: null,
        confirmed_by: [],
        pending_change: null,
        events: [{ at, event: "edited" }],
      };
      const others = new Map(records);
      const past = ended(before, at, after.id, now);
      others.set(id, past);
      return entryOf([past, ...reconcileRecord(others.values(), after, rules).puts], after.id);
    });
  }

  async approve(owner: Owner, id: string, { now }: At): Promise<Memory> {
    const rules = await this.#parts.rules(owner, now);
    let forgot = false;
    const memory = await this.#change(owner, now, async (memories) => {
      const record = found(memories.records, id);
      const reconciled: Reconciled = approved(memories.records.values(), record, rules);
      const gone = await this.#parts.forgetting.tombstones(owner, memories, reconciled.forgotten, now, []);
      forgot = gone.length > 0;
      const removed = gone.map((each) => each.id);
      const change = entryOf(reconciled.puts, [...reconciled.resolved.values()][0] ?? id, removed);
      return forgot ? { ...change, result: record } : change;
    });
    if (forgot) this.#parts.forgetting.tell(owner);
    return memory;
  }

  async reject(owner: Owner, id: string, { now }: At): Promise<Memory> {
    return this.#change(owner, now, ({ records }) => {
      const record = found(records, id);
      const after = rejected(record, now);
      if (after === null) throw new AppError("INVALID_REQUEST", { detail: "Nothing of it waits for an answer." });
      return entryOf([after], id);
    });
  }

  /** `result`: the id of the memory to answer with, as it is then, or the record itself where it is no more. */
  async #change(
    owner: Owner,
    now: Date,
    plan: (memories: OwnerMemories) => Promise<MemoryChange<string | MemoryRecord>> | MemoryChange<string | MemoryRecord>,
  ): Promise<Memory> {
    const { memories, result } = await this.#parts.logs.change(owner, plan, { now });
    return memoryOf(typeof result === "string" ? found(memories.records, result) : result);
  }
}

/** With the request that it is the work of: logged also where nothing changes. */
function stated<T>(change: MemoryChange<T>, request: MemoryRequest | undefined): MemoryChange<T> {
  if (request === undefined) return change;
  return { ...change, entry: { ...(change.entry ?? { kind: "hand", turn: null, puts: [], removed: [] }), request } };
}

function entryOf(puts: readonly MemoryRecord[], id: string, removed: readonly string[] = []): MemoryChange<string | MemoryRecord> {
  return { entry: puts.length + removed.length === 0 ? null : { kind: "hand", turn: null, puts, removed }, result: id };
}

function found(records: ReadonlyMap<string, MemoryRecord>, id: string): MemoryRecord {
  const record = records.get(id);
  if (record === undefined) throw new AppError("MEMORY_NOT_FOUND");
  return record;
}

/** A statement's request, where it has a key. */
interface StatementKey extends RequestKey {
  /** Which of the request's statements, from 0. Default 0. */
  readonly place?: number;
}

/** Under which id a request with a key is logged: the key itself is not. */
function requestIdOf(owner: Owner, { key }: RequestKey): string {
  return derivedId("memory", owner, "by request", key);
}

/**
 * The memory that this request stated before; null where it did not, or not within a day.
 * @throws IDEMPOTENCY_KEY_REUSED for a key of another request, INVALID_REQUEST where the memory is forgotten since
 */
function statedBefore(owner: Owner, memories: OwnerMemories, request: StatementKey, now: Date): MemoryRecord | null {
  const before = memories.request(requestIdOf(owner, request), now);
  if (before === undefined) return null;
  if (before.hash !== request.requestHash) throw new AppError("IDEMPOTENCY_KEY_REUSED");
  const id = before.memories.get(request.place ?? 0);
  if (id === undefined) return null;
  const record = memories.records.get(id);
  if (record === undefined) throw new AppError("INVALID_REQUEST", { detail: "It was forgotten since." });
  request.onReplay?.();
  return record;
}

/** Whether the request has stated this one already: nobody needs to be asked what it is. */
function isStated(owner: Owner, memories: OwnerMemories, request: StatementKey, now: Date): boolean {
  return memories.request(requestIdOf(owner, request), now)?.memories.has(request.place ?? 0) === true;
}

/** For a memory that is stated: the same for the same request, so that a repetition on another machine can't double it. */
function statedId(owner: Owner, memories: OwnerMemories, { key, place = 0 }: StatementKey): string {
  const id = derivedId("memory", owner, "by hand", key, place);
  // The key's day is over, and its memory still there.
  return memories.records.has(id) || memories.isRemoved(id) ? newId() : id;
}

/** What the log keeps of a request: `memoryId` is what it is answered with. */
function loggedRequest(owner: Owner, request: StatementKey, memoryId: string): MemoryRequest {
  return { id: requestIdOf(owner, request), hash: request.requestHash, place: request.place ?? 0, memory_id: memoryId };
}

/** Whether it is the statement that is wrong. */
function isOfItself({ code }: AppError): boolean {
  return code === "INVALID_REQUEST" || code === "MEMORY_REFUSED";
}
