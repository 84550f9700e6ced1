import { isDeepStrictEqual } from "node:util";
import type { Owner } from "../domain/owner.js";
import type { JournalRecord, JsonObject, NewRecord } from "../domain/session.js";
import { type ForgottenMessages, provenanceOf, type SessionProvenance, titleAnew } from "../domain/session-provenance.js";
import { UNTITLED } from "../domain/title.js";
import type { Clock } from "../platform/clock.js";
import { collected } from "../platform/collected.js";
import { AppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import { mergeLockKey } from "../ports/identities.js";
import type { OwnerLedger } from "../ports/owner-ledger.js";
import { type SessionStore, underLock } from "../ports/session-store.js";
import type { SessionWriter } from "../ports/session-writer.js";
import { copyImages } from "./images.js";
import { ownMetadata, type PatchBody } from "./session-records.js";
import { inheritedMetadata, mergeOf } from "./without-merged.js";

export interface Fork {
  readonly owner: Owner;
  readonly sourceId: string;
  /** The source's journal as it stands: without what was taken back. In order. */
  readonly records: readonly JournalRecord[];
  readonly messageId: string;
  /** A title that may repeat it is not copied: the fork is called what its first other message says. */
  readonly forgotten: readonly ForgottenMessages[];
  readonly now: Date;
  readonly newId: () => string;
}

/**
 * The journal of a fork: the conversation up to and including the turn of `messageId`, whichever side said it, so that its last user
 * message can be said again differently. Records get new ids; a message keeps, as `origin_id`, the id under which it was first said,
 * also through a fork of a fork: what hides or names the first hides and names the copy. Copies are not indexed or extracted again,
 * and idempotency keys stay with the first.
 * @throws MESSAGE_NOT_FOUND
 */
export function forkRecords(fork: Fork): NewRecord[] {
  const { owner, sourceId, records, messageId, forgotten, now, newId } = fork;
  const at = now.toISOString();
  const target = records.find((record) => record.type === "message" && record.id === messageId);
  if (!target) throw new AppError("MESSAGE_NOT_FOUND");
  const whole = provenanceOf(records);
  const { title, titleBy, topic, topicBy, tags, tagsBy, agentType } = whole;
  const { metadata, inherited } = inheritedFrom(records, whole);
  const patch = { type: "session_patch", turn: 0, at } as const;
  const start: NewRecord[] = [
    {
      type: "session",
      id: newId(),
      turn: 0,
      at,
      body: {
        owner,
        title: titleBy === "user" && inherited?.title === undefined ? title : null,
        metadata,
        agent_type: agentType,
        forked_from: { session_id: sourceId, message_id: messageId },
      },
    },
  ];
  const anew = titleAnew(records, forgotten);
  if (inherited !== null) start.push({ ...patch, id: newId(), body: { ...inherited, by: "user" } });
  if (titleBy === "derived")
    start.push({ ...patch, id: newId(), body: { title: (anew === undefined ? title : anew) ?? UNTITLED, by: "derived" } });
  if (topicBy !== null && inherited?.topic === undefined) start.push({ ...patch, id: newId(), body: { topic, by: topicBy } });
  if (tagsBy !== null && inherited?.tags === undefined) start.push({ ...patch, id: newId(), body: { tags: [...tags], by: tagsBy } });
  const kept = records.filter((record) => record.turn <= target.turn || record.type === "off_record");
  return [...start, ...kept.flatMap((record) => copyOf(record, target.turn, newId))];
}

/** What a merged user had set and still holds stands by itself, so that it goes with the merge; null where there is none. */
function inheritedFrom(
  records: readonly JournalRecord[],
  whole: SessionProvenance,
): { readonly metadata: JsonObject; readonly inherited: Omit<PatchBody, "by"> | null } {
  const merged = records.map(mergeOf).find((id) => id !== null) ?? null;
  if (merged === null) return { metadata: whole.metadata, inherited: null };
  const own = provenanceOf(records.filter((record) => mergeOf(record) === null));
  const metadata = ownMetadata(whole.metadata, inheritedMetadata(records));
  const isInherited = (field: "titleBy" | "topicBy" | "tagsBy") => whole[field] === "user" && own[field] !== "user";
  const set = {
    ...(isInherited("titleBy") && { title: whole.title }),
    ...(isInherited("topicBy") && { topic: whole.topic }),
    ...(isInherited("tagsBy") && { tags: [...whole.tags] }),
    ...(!isDeepStrictEqual(whole.metadata, metadata) && { metadata: whole.metadata }),
  };
  return { metadata, inherited: Object.keys(set).length === 0 ? null : { merged, ...set } };
}

function copyOf(record: JournalRecord, lastTurn: number, newId: () => string): NewRecord[] {
  const { turn, at } = record;
  if (record.type === "message") {
    const { idempotency: _, external_id: __, ...body } = record.body;
    return [{ type: "message", id: newId(), turn, at, body: { ...body, origin_id: body.origin_id ?? record.id } }];
  }
  if (record.type === "step") {
    const id = newId();
    return [{ type: "step", id, turn, at, body: { ...record.body, id } }];
  }
  if (record.type === "off_record" && record.body.of_turn <= lastTurn)
    return [{ type: "off_record", id: newId(), turn: lastTurn, at, body: record.body }];
  if (record.type === "summary" && record.body.to_turn <= lastTurn) return [{ type: "summary", id: newId(), turn, at, body: record.body }];
  return [];
}

interface Source {
  readonly sourceId: string;
  readonly messageId: string;
  /** Records that go in with the fork's first. */
  readonly kept: readonly NewRecord[];
  readonly signal: AbortSignal;
}

interface WriteForkParts {
  readonly store: SessionStore;
  readonly writer: SessionWriter;
  readonly ledger: Pick<OwnerLedger, "tombstones">;
  readonly clock: Clock;
}

/** How long a fork of what came by a merge waits while that is undone, in milliseconds. */
const WAIT_MS = 30_000;

/**
 * Writes the session that {@link forkRecords} makes of another, its images first. Returns its id. What came by a merge is copied while that
 * stands: an undo finds the fork, or the fork finds it undone. @throws MESSAGE_NOT_FOUND, SESSION_BUSY
 */
export async function writeFork(parts: WriteForkParts, owner: Owner, source: Source): Promise<string> {
  const { journal, locks } = parts.store;
  const records = await collected(journal.read(owner, source.sourceId, { signal: source.signal }));
  if (records.every((record) => mergeOf(record) === null)) return write(parts, owner, source, records);
  return underLock(locks, mergeLockKey(owner), { waitMs: WAIT_MS, signal: source.signal, owner }, async () =>
    write(parts, owner, source, await collected(journal.read(owner, source.sourceId, { signal: source.signal }))),
  );
}

async function write(
  { store, writer, ledger, clock }: WriteForkParts,
  owner: Owner,
  { sourceId, messageId, kept }: Source,
  records: readonly JournalRecord[],
): Promise<string> {
  const id = newId();
  const forgotten = await ledger.tombstones(owner);
  const copied = forkRecords({ owner, sourceId, records, messageId, forgotten, now: clock.now(), newId });
  await copyImages(store.images, owner, sourceId, id, copied);
  await writer.create(owner, id, [...copied, ...kept]);
  return id;
}
