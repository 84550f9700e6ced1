import { isDeepStrictEqual } from "node:util";
import type { Owner } from "../domain/owner.js";
import type { JournalRecord, JsonObject, NewRecord } from "../domain/session.js";
import { provenanceOf, type SessionProvenance } from "../domain/session-provenance.js";
import { UNTITLED } from "../domain/title.js";
import { type ForgottenMessages, titleAnew } from "../domain/title-anew.js";
import { AppError } from "../platform/errors.js";
import { ownMetadata } from "./metadata.js";
import type { PatchBody } from "./session-records.js";
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
