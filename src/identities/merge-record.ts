import { z } from "zod";
import { mergedId, type Owner, parseOwner } from "../domain/owner.js";
import { insteadOf } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import type { Merge, MergedSessions, MergedUsers, MergeEnds, MergeRegistry } from "../ports/identities.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import type { FormerSessionIds } from "../ports/session-names.js";
import type { SessionIndex } from "../ports/session-store.js";

const owner = z.string().transform((value) => value as Owner);

/**
 * How far a merge came, in the ledger of the user who was merged: also what tells for good whom they are taken for. `merging` until `to`
 * has all; `undoing` while `from` loses what `to` lost, `returning` while `to` gives it back; `expiring` while what lies dormant is erased
 * after 30 days; `erasing` while it is, because `to` is.
 */
const recordSchema = z.object({
  v: z.literal(1),
  id: z.string(),
  from: owner,
  to: owner,
  at: z.string(),
  state: z.enum(["merging", "merged", "undoing", "returning", "undone", "expiring", "final", "erasing"]),
  /** Of the request's idempotency key. */
  key: z.string().exactOptional(),
  /** What of the domain's records went over. */
  records: z.array(z.string()),
  /** Sessions that `to` has deleted since. */
  deleted: z.array(z.string()),
  /** Merges of before, all undone, oldest first. */
  undone: z.array(z.object({ id: z.string(), to: owner, at: z.string() })).exactOptional(),
});
export type MergeRecord = z.infer<typeof recordSchema>;

/** States in which nothing is to be finished, and the user is taken for the one they were merged with. */
export const TAKEN_FOR_ANOTHER: ReadonlySet<MergeRecord["state"]> = new Set(["merged", "expiring", "final"]);

/** States in which there is something to be done: by whoever looks, or by retention. */
export const UNFINISHED: ReadonlySet<MergeRecord["state"]> = new Set(["merging", "undoing", "returning", "expiring"]);

const namesSchema = z.object({ v: z.literal(1), from: z.array(owner) });

/** Under which a ledger keeps them: of the one who was merged, and of the one who was given it all. */
export const MERGE_JOB = "merge";
const MERGED_JOB = "merged";
const DAY_MS = 24 * 60 * 60 * 1000;
const UNDO_DAYS = 30;

/** Until when a merge can be undone, in milliseconds. */
export function undoUntilMs({ at }: Pick<MergeRecord, "at">): number {
  return Date.parse(at) + UNDO_DAYS * DAY_MS;
}

/** Tells whose merge it is, so that it is found without a list of all. Opaque to clients. */
export function newMergeId(from: Owner): string {
  return `${newId()}.${Buffer.from(from).toString("base64url")}`;
}

/** Null for what can't be one. */
export function ownerOfMerge(id: string): Owner | null {
  const from = Buffer.from(id.slice(id.indexOf(".") + 1), "base64url").toString();
  try {
    parseOwner(from);
    return from as Owner;
  } catch {
    return null;
  }
}

/** As clients see it. */
export function mergeOf(record: MergeRecord): Merge {
  const { tenant, user } = parseOwner(record.from);
  const states = { expiring: "final", erasing: "final", returning: "undoing" } as const;
  const { state } = record;
  return {
    merge_id: record.id,
    tenant,
    from: user,
    to: parseOwner(record.to).user,
    state: state in states ? states[state as keyof typeof states] : (state as Merge["state"]),
    merged_at: record.at,
    undo_until: new Date(undoUntilMs(record)).toISOString(),
  };
}

/** The ids that sessions had before their user was merged. */
export function formerSessionIds(records: MergeRecords, index: Pick<SessionIndex, "get">): FormerSessionIds {
  return async (owner, formerId) => {
    for (const { id } of await records.into(owner)) {
      const copy = mergedId("session", owner, id, formerId);
      if ((await index.get(owner, copy)) !== null) return copy;
    }
    return null;
  };
}

/** Merges in the ledgers of both users. */
export class MergeRecords {
  readonly #ledger: Pick<OwnerLedger, "progress" | "setProgress">;
  readonly #registry: MergeRegistry;

  constructor(ledger: Pick<OwnerLedger, "progress" | "setProgress">, registry: MergeRegistry) {
    this.#ledger = ledger;
    this.#registry = registry;
  }

  /** The last merge of a user with another; null where there was none. One read. */
  async of(from: Owner): Promise<MergeRecord | null> {
    const kept = await this.#ledger.progress(from, MERGE_JOB);
    return kept === null ? null : recordSchema.parse(JSON.parse(kept));
  }

  /** Whom a user is taken for: themselves, where they are merged with nobody. */
  async knownAs(owner: Owner): Promise<Owner> {
    const record = await this.of(owner);
    return record !== null && TAKEN_FOR_ANOTHER.has(record.state) ? record.to : owner;
  }

  /**
   * Durable on resolve. The registry knows before it that there is something to be done, and behind it that there is not; `to` knows of it
   * before, so that an erasure of theirs finds it. For one who holds both users' locks.
   */
  async put(record: MergeRecord): Promise<MergeRecord> {
    if (UNFINISHED.has(record.state)) await this.#registry.begin(record);
    const names = await this.#names(record.to);
    if (!names.includes(record.from))
      await this.#ledger.setProgress(record.to, MERGED_JOB, JSON.stringify({ v: 1, from: [...names, record.from] }));
    await this.#ledger.setProgress(record.from, MERGE_JOB, JSON.stringify(record));
    if (!UNFINISHED.has(record.state)) await this.settle(record, record);
    return record;
  }

  /** Tells the registry what a crash left untold. `record`: as it stands. For one who holds both users' locks. */
  settle(merge: MergeEnds, record: MergeRecord | null): Promise<void> {
    return this.#registry.settle(merge, { dormant: record?.state === "merged" });
  }

  /** Of whom there may be something to finish. Reads no ledger, as {@link dormant}. */
  unfinished(): AsyncIterable<MergeEnds> {
    return this.#registry.unfinished();
  }

  /** Whose things lie dormant, of 30 days. */
  dormant(): AsyncIterable<MergeEnds> {
    return this.#registry.dormant();
  }

  /**
   * Lets nobody be known by way of somebody else: who was merged for good with `from` is known as `to`, and again as `from` after an undo.
   */
  async carryNames(from: Owner, to: Owner, way: "there" | "back" = "there"): Promise<void> {
    const [before, after] = way === "there" ? [from, to] : [to, from];
    for (const name of await this.#names(from)) {
      const record = await this.of(name);
      if (record?.to === before && record.state === "final") await this.put({ ...record, to: after });
    }
  }

  /** Of all that a user was merged with. */
  async into(to: Owner): Promise<readonly MergeRecord[]> {
    const records = await Promise.all((await this.#names(to)).map((from) => this.of(from)));
    return records.filter((record): record is MergeRecord => record !== null && record.to === to && record.state !== "undone");
  }

  /**
   * Merges of a user that were undone: where words of theirs may be left, by the names that the others are known by today. None while what
   * lies dormant is erased: that is somebody else's by then, and stays theirs.
   */
  async undoneOf(from: Owner): Promise<readonly MergedUsers[]> {
    const record = await this.of(from);
    if (record === null || record.state === "expiring") return [];
    const merges = [...(record.undone ?? []), ...(record.state === "undone" ? [record] : [])];
    const found = await Promise.all(
      merges.map(async ({ id, to, at }) => [...new Set([to, await this.knownAs(to)])].map((each) => ({ id, from, to: each, at }))),
    );
    return found.flat();
  }

  /** Whether what is fenced off is so because of a merge, and not to be erased. */
  async isMerge(from: Owner): Promise<boolean> {
    const record = await this.of(from);
    return record !== null && record.state !== "erasing";
  }

  /** Users whose things lie dormant, because they were merged with this one, who is being erased: they are erased too. Durable. */
  async erasedWith(to: Owner): Promise<readonly Owner[]> {
    const records = await this.into(to);
    for (const record of records) await this.put({ ...record, state: "erasing" });
    return records.map(({ from }) => from);
  }

  async #names(to: Owner): Promise<readonly Owner[]> {
    const kept = await this.#ledger.progress(to, MERGED_JOB);
    return kept === null ? [] : namesSchema.parse(JSON.parse(kept)).from;
  }
}

/**
 * What users whom an owner was merged with, and is no more, still hold of the owner's words: an erasure takes it out there as well, and
 * looks. What those users said themselves stays.
 */
export class WordsLeft {
  /** As a receipt names it. */
  readonly name = "answers_to_others";
  readonly #records: MergeRecords;
  readonly #sessions: Pick<MergedSessions, "forget" | "left">;

  constructor(records: MergeRecords, sessions: Pick<MergedSessions, "forget" | "left">) {
    this.#records = records;
    this.#sessions = sessions;
  }

  async erase(owner: Owner): Promise<Readonly<Record<string, number>>> {
    const merges = await this.#records.undoneOf(owner);
    let answers = 0;
    for (const merge of merges) answers += await this.#sessions.forget(merge).catch(erasedThemselves);
    return merges.length === 0 ? {} : { [this.name]: answers };
  }

  async residue(owner: Owner): Promise<number> {
    let left = 0;
    for (const merge of await this.#records.undoneOf(owner)) left += await this.#sessions.left(merge);
    return left;
  }
}

/** Whoever is being erased themselves has nothing left afterwards. */
const erasedThemselves = insteadOf("OWNER_ERASED", 0);
