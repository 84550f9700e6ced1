import { textHash } from "../domain/folded-text.js";
import type { MemorySource } from "../domain/memory.js";
import { byStated, HAPPENED, type MemoryRecord } from "../domain/memory-record.js";
import { happenedId, mergedId, type Owner } from "../domain/owner.js";
import { collected } from "../platform/collected.js";
import { isId } from "../platform/ids.js";
import type { Logger } from "../platform/logger.js";
import type { MergedMemories, MergedUsers, TurnOfSession } from "../ports/identities.js";
import type { MemoryLog, MemoryLogEntry, NewMemoryLogEntry } from "../ports/memory-log.js";
import type { OwnerLedger, Tombstone } from "../ports/owner-ledger.js";
import { withoutQuotes, withoutSecrets } from "./administration.js";
import type { OwnerLogs } from "./owner-logs.js";
import { type ReconcileRules, reconcileAdopted } from "./reconcile.js";
import { messageOf } from "./record-changes.js";
import { takenBack } from "./taken-back.js";

interface MergingParts {
  readonly logs: OwnerLogs;
  readonly log: Pick<MemoryLog, "read">;
  readonly ledger: Pick<OwnerLedger, "tombstones" | "addTombstones">;
  readonly rules: (owner: Owner, now: Date) => Promise<ReconcileRules>;
  readonly logger: Logger;
}

/** Stands for the reader in the entry of a merge. */
const MERGE = "merge";

/** Memories of two users who turned out to be one: the fold of the one log into the other is one entry, and so is taking it back. */
export class MergingMemories implements MergedMemories {
  readonly #parts: MergingParts;

  constructor(parts: MergingParts) {
    this.#parts = parts;
  }

  async takeOver(users: MergedUsers, pending: readonly TurnOfSession[], now: Date): Promise<{ readonly memories: number }> {
    const { logs, ledger } = this.#parts;
    const { from, to } = users;
    const known = await logs.known(from);
    const forgotten = await ledger.tombstones(from);
    const carried = (tombstone: Tombstone): Tombstone => ({
      ...tombstone,
      memoryId: mergedId("memory", to, users.id, tombstone.memoryId),
      hashOf: tombstone.hashOf ?? from,
    });
    await ledger.addTombstones(to, forgotten.map(carried));
    const adopted = adoptedRecords(users, known.records.values());
    if ((await this.#entriesOf(users)).merge === null) {
      const rules = await this.#parts.rules(to, now);
      await this.#change(to, now, ({ records }) => {
        const { puts, resolved, dropped } = reconcileAdopted(records.values(), adopted, rules);
        const standing = (id: string | null) => (id === null ? null : (resolved.get(id) ?? id));
        const turn = { session_id: "", turn: 0, message_id: users.id, reader: MERGE };
        const merged = puts.map((record) => ({ ...record, superseded_by: standing(record.superseded_by) }));
        return { kind: "merge", turn, puts: merged, removed: [], dropped };
      });
    }
    const waits = new Set(pending.map(({ session_id, turn }) => JSON.stringify([session_id, turn])));
    const unfinished = known.read.filter(({ session_id, turn }) => waits.has(JSON.stringify([session_id, turn])));
    for (const turn of [...known.left, ...unfinished]) {
      const as = { ...turn, session_id: mergedId("session", to, users.id, turn.session_id) };
      await this.#change(to, now, (memories) =>
        memories.planned(turn.message_id) === undefined ? { kind: "turn", turn: as, puts: [], removed: [] } : null,
      );
    }
    await this.#follow(to);
    return { memories: adopted.length };
  }

  async standing(users: MergedUsers): Promise<ReadonlyMap<string, string>> {
    const { logs } = this.#parts;
    const [before, after] = [await logs.known(users.from), (await logs.known(users.to)).records];
    const found = [...before.records.values()].flatMap((record): readonly (readonly [string, string])[] => {
      if (after.has(adoptedId(users, record))) return [];
      const same = [...after.values()].find((other) => other.confirmed_by.includes(messageOf(record)) && isOfTheSame(other, record));
      return same === undefined ? [] : [[record.id, same.id]];
    });
    return new Map(found);
  }

  async forgottenSince(users: MergedUsers, purged: ReadonlySet<string>, now: Date): Promise<void> {
    const { logs, ledger } = this.#parts;
    const { from, to } = users;
    const { merge, later } = await this.#entriesOf(users);
    if (merge === null) return;
    const since = (await ledger.tombstones(to)).filter(({ hashOf, at }) => hashOf === undefined && at >= merge.at);
    // What only an edit took back comes back with the message that was edited.
    const deleted = new Set(later.flatMap(({ kind, removed }) => (kind === "turn" ? [] : removed)));
    const known = await logs.known(from);
    const left = new Map<string, Tombstone>();
    const gone = new Set<string>();
    for (const record of known.records.values()) {
      const id = adoptedId(users, record);
      const forgotten = since.find((tombstone) => isForgottenBy(tombstone, record, id, to));
      if (forgotten === undefined && !deleted.has(id)) continue;
      for (const each of known.withPredecessors([record])) {
        gone.add(each.id);
        if (forgotten !== undefined) left.set(each.id, tombstoneOf(from, each, forgotten));
      }
    }
    await ledger.addTombstones(from, [...left.values()]);
    await this.#change(
      from,
      now,
      ({ records }) => {
        const removed = [...gone].filter((id) => records.has(id));
        const puts = [...records.values()].filter((record) => !gone.has(record.id) && unquoted(record, purged) !== record);
        if (removed.length + puts.length === 0) return null;
        return { kind: "detach", turn: null, puts: puts.map((record) => unquoted(record, purged)), removed };
      },
      { behindFence: true },
    );
    if (purged.size > 0) await logs.redact(from, (record) => unquoted(record, purged));
  }

  async given(users: MergedUsers): Promise<ReadonlySet<string>> {
    const known = await this.#parts.logs.known(users.from);
    const gone = known.everyId.map((id) => mergedId("memory", users.to, users.id, id));
    return new Set([...[...known.records.values()].map((record) => adoptedId(users, record)), ...gone]);
  }

  async takeOut(users: MergedUsers, said: ReadonlySet<string>, now: Date): Promise<void> {
    const { logs } = this.#parts;
    const { from, to } = users;
    const known = await logs.known(from);
    const entries = await collected(this.#parts.log.read(to));
    const { merge, later, cursor } = around(entries, users);
    if (merge === null || later.some((entry) => entry.kind === "undo" && entry.turn?.message_id === users.id)) return;
    const messages = new Set([
      users.id,
      ...said,
      ...[...known.records.values()].flatMap((each) => [messageOf(each), ...each.confirmed_by]),
    ]);
    const given = new Set(merge.puts.map(({ id }) => id));
    await this.#change(to, now, ({ records }) => {
      const back = takenBack(records, entries, messages, now);
      const puts = new Map(back.puts.map((record) => [record.id, record]));
      for (const record of records.values()) {
        // Said again since: it stands as what its owner stated.
        if (!given.has(record.id) || back.removed.includes(record.id) || !messages.has(record.source?.message_id ?? "")) continue;
        puts.set(record.id, { ...record, source: null, confirmed_by: record.confirmed_by.filter((id) => !messages.has(id)) });
      }
      const turn = { session_id: "", turn: 0, message_id: users.id, reader: MERGE };
      return { kind: "undo", turn, puts: [...puts.values()], removed: back.removed, happened_cursor: cursor };
    });
    await this.#follow(to);
  }

  async #entriesOf(users: MergedUsers) {
    return around(await collected(this.#parts.log.read(users.to)), users);
  }

  async #change(
    owner: Owner,
    now: Date,
    plan: (memories: Awaited<ReturnType<OwnerLogs["known"]>>) => NewMemoryLogEntry | null,
    fence: { readonly behindFence?: true } = {},
  ): Promise<void> {
    await this.#parts.logs.change(owner, (memories) => ({ entry: plan(memories), result: null }), {
      now,
      store: "later",
      ...fence,
    });
  }

  /** A store that is out of reach follows when the memories are next used. */
  async #follow(owner: Owner): Promise<void> {
    const { logs, logger } = this.#parts;
    await logs.level(owner).catch((error: unknown) => logger.warn({ err: error }, "The store of memories follows a merge later"));
  }
}

/** The entry of a merge, what came behind it, and where the domain's reports stood before it. */
function around(entries: readonly MemoryLogEntry[], { id }: MergedUsers) {
  const at = entries.findIndex(({ kind, turn }) => kind === "merge" && turn?.message_id === id);
  const before = entries.slice(0, Math.max(0, at)).flatMap(({ happened_cursor: cursor }) => (cursor === undefined ? [] : [cursor]));
  return { merge: entries[at] ?? null, later: at < 0 ? [] : entries.slice(at + 1), cursor: before.at(-1) ?? null };
}

/** By its id, its words, or the message that it came from. */
function isForgottenBy(tombstone: Tombstone, record: MemoryRecord, id: string, to: Owner): boolean {
  if (tombstone.memoryId === id) return true;
  if (Date.parse(record.stated_at) > Date.parse(tombstone.at)) return false;
  const messageId = record.source?.message_id;
  const hidden = messageId !== undefined && tombstone.messageIds.includes(messageId) && tombstone.askedIn?.includes(messageId) !== true;
  return hidden || tombstone.textHash === textHash(to, record.text);
}

function tombstoneOf(owner: Owner, record: MemoryRecord, { askedIn, at }: Tombstone): Tombstone {
  const messages = [record.source?.message_id, ...record.confirmed_by, ...(askedIn ?? [])];
  return {
    memoryId: record.id,
    messageIds: [...new Set(messages.filter((id): id is string => id !== undefined && !id.startsWith("by-hand:")))],
    ...(askedIn !== undefined && { askedIn }),
    textHash: textHash(owner, record.text),
    at,
  };
}

/** One message may say several things. */
function isOfTheSame(a: MemoryRecord, b: MemoryRecord): boolean {
  return a.category === b.category && a.aspect === b.aspect && a.need === b.need && a.subject === b.subject;
}

function unquoted(record: MemoryRecord, sessions: ReadonlySet<string>): MemoryRecord {
  return [...sessions].reduce(withoutQuotes, record);
}

/** The id that a record of `from` has as `to`'s. What the domain reports of `to` from now on has the same, and so is there already. */
function adoptedId({ id: mergeId, to }: MergedUsers, record: MemoryRecord): string {
  if (record.type === "episodic" && record.tags.includes(HAPPENED)) return happenedId(to, record.aspect);
  return mergedId("memory", to, mergeId, record.id);
}

/** Records of `from` as `to`'s, oldest first; none that holds a secret. The story is told anew. Pure. */
export function adoptedRecords(users: MergedUsers, records: Iterable<MemoryRecord>): MemoryRecord[] {
  const all = [...records].flatMap((record) => (record.type === "narrative" ? [] : (withoutSecrets(record) ?? [])));
  const ids = new Map(all.map((record) => [record.id, adoptedId(users, record)]));
  const idOf = (id: string) => ids.get(id) ?? mergedId("memory", users.to, users.id, id);
  const sourceOf = (source: MemorySource | null) =>
    source === null ? null : { ...source, session_id: mergedId("session", users.to, users.id, source.session_id) };
  const adopted = all.map((record): MemoryRecord => {
    const { pending_change: change } = record;
    return {
      ...record,
      id: idOf(record.id),
      source: sourceOf(record.source),
      pending_change: change === null ? null : { ...change, source: sourceOf(change.source) },
      superseded_by: record.superseded_by === null ? null : idOf(record.superseded_by),
      entities: record.entities.map((entity) => (isId(entity) ? idOf(entity) : entity)),
    };
  });
  return adopted.sort(byStated);
}
