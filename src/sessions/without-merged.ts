import { isDeepStrictEqual } from "node:util";
import { FORGOTTEN, sharesWord } from "../domain/forgotten-words.js";
import type { JournalRecord, JsonObject, MessageRecord, RecordOf } from "../domain/session.js";
import { provenanceOf } from "../domain/session-provenance.js";
import { ownMetadata, withoutEntries } from "./session-records.js";

/** What becomes of a session's records. */
export interface ChangedRecords {
  /** Those that change, by id; null: it goes. Empty where nothing of it is left to be taken out. */
  readonly changes: ReadonlyMap<string, JournalRecord | null>;
  /** False where all messages go. */
  readonly hasWords: boolean;
}

const ID_CHARS = 36;
/** What stands between the ids of a text; of a name such as `card-<id>` a hyphen is left. */
const BETWEEN_IDS = /[^0-9a-f-]/;

/** The id of the merge by which a record came from another user: also in a fork of a copy, or of a fork. Null where it came by none. */
export function mergeOf({ type, body }: JournalRecord): string | null {
  if (type !== "message" && type !== "session" && type !== "session_patch") return null;
  return body.merged ?? null;
}

/** Metadata that came by a merge, but for what a fork took over as its owner's own. Pure. */
export function inheritedMetadata(records: readonly JournalRecord[]): JsonObject {
  const own = records.find((record) => record.type === "session" && mergeOf(record) === null) as RecordOf<"session"> | undefined;
  return withoutEntries(provenanceOf(records.filter((record) => mergeOf(record) !== null)).metadata, own?.body.metadata ?? {});
}

/**
 * A session without what came into it by a merge: messages with their turns, names and metadata that the other user gave, and what was made
 * of them: summaries, derived title, topic and tags. Its owner's own words stay, and so do the answers to them, without what they were
 * `given` of the merge (ids of memories, messages and sessions); an answer that repeats words of it is marked. Pure, and safe to repeat.
 */
export function withoutMerged(records: readonly JournalRecord[], mergeId: string, given: ReadonlySet<string>): ChangedRecords {
  const messages = records.filter((record): record is MessageRecord => record.type === "message");
  const merged = new Set(messages.filter((record) => mergeOf(record) === mergeId));
  const turns = new Set([...merged].map(({ turn }) => turn));
  const first = Math.min(...turns);
  const ownMessages = messages.filter((record) => !merged.has(record) && (!turns.has(record.turn) || record.body.role === "user"));
  const ownWords = ownMessages.flatMap(({ body }) => (body.role === "user" ? [body.content] : []));
  const othersWords = [...merged].flatMap(({ body }) => (body.role === "user" ? [body.content] : []));
  const inherited = inheritedMetadata(records);
  const isCopy = records.some((record) => mergeOf(record) === mergeId);

  const changed = (record: JournalRecord): JournalRecord | null => {
    switch (record.type) {
      case "session":
        return isCopy ? openingOf(record, mergeId) : record;
      case "session_patch":
        if (mergeOf(record) === mergeId) return null;
        return isCopy ? ownPatch(record, inherited) : record;
      case "message":
        if (!ownMessages.includes(record)) return null;
        return record.body.role === "assistant" ? ownAnswer(record, { mergeId, given, othersWords, ownWords }) : record;
      case "step":
        return turns.has(record.turn) || mentions(record.body.output, given) ? null : record;
      case "summary":
        return record.body.to_turn >= first ? null : record;
      case "off_record":
        return turns.has(record.body.of_turn) ? null : record;
      case "write_back_done":
        return turns.has(record.turn) ? null : record;
      case "rewind":
        return record;
    }
  };
  return { changes: changesOf(records, changed), hasWords: ownMessages.length > 0 };
}

/** A session whose answers don't repeat what a merge that was undone had given, nor what was made of them. Pure, and safe to repeat. */
export function withoutRepeated(records: readonly JournalRecord[], mergeId: string): ReadonlyMap<string, JournalRecord | null> {
  const repeating = records.filter((record) => repeatsMerge(record, mergeId));
  const first = Math.min(...repeating.map(({ turn }) => turn));
  return changesOf(records, (record) => {
    if (repeating.length === 0) return record;
    if (record.type === "summary") return record.body.to_turn >= first ? null : record;
    if (record.type === "session_patch") return withoutDerived(record);
    if (record.type !== "message" || !repeatsMerge(record, mergeId)) return record;
    const { repeats_merge: _, elements: __, placed: ___, ...body } = record.body;
    return { ...record, body: { ...body, content: FORGOTTEN, in_history: false } };
  });
}

/** Whether an answer repeats what a merge, undone since, had given. */
export function repeatsMerge(record: JournalRecord, mergeId: string): boolean {
  return record.type === "message" && record.body.repeats_merge === mergeId;
}

function changesOf(
  records: readonly JournalRecord[],
  change: (record: JournalRecord) => JournalRecord | null,
): ReadonlyMap<string, JournalRecord | null> {
  const after = records.map((record) => ({ record, now: change(record) }));
  return new Map(after.flatMap(({ record, now }) => (isDeepStrictEqual(record, now) ? [] : [[record.id, now] as const])));
}

/** Its name goes with who gave it; the id by which its conversation goes on elsewhere stays. */
function openingOf(record: RecordOf<"session">, mergeId: string): JournalRecord {
  if (mergeOf(record) !== mergeId) return { ...record, body: { ...record.body, forked_from: null } };
  const { merged: _, ...body } = record.body;
  return { ...record, body: { ...body, title: null, forked_from: null, metadata: ownMetadata(body.metadata, body.metadata) } };
}

function ownPatch(record: RecordOf<"session_patch">, inherited: JsonObject): JournalRecord | null {
  const { metadata } = record.body;
  if (metadata === undefined) return withoutDerived(record);
  return withoutDerived({ ...record, body: { ...record.body, metadata: ownMetadata(metadata, inherited) } });
}

/** What it cost stays told. */
function withoutDerived(record: RecordOf<"session_patch">): JournalRecord | null {
  if (record.body.by !== "derived") return record;
  const { title: _, topic: __, tags: ___, ...body } = record.body;
  return Object.keys(body).length === 1 && Object.keys(record.body).length > 1 ? null : { ...record, body };
}

interface GivenTo {
  readonly mergeId: string;
  readonly given: ReadonlySet<string>;
  /** Said by the other user in the same session. */
  readonly othersWords: readonly string[];
  readonly ownWords: readonly string[];
}

function ownAnswer(record: MessageRecord, { mergeId, given, othersWords, ownWords }: GivenTo): MessageRecord {
  const { memory, asked, elements, placed, metadata, content } = record.body;
  const isGiven = ({ id }: { readonly id: string }) => given.has(id) || mentions(id, given);
  const words = [
    ...othersWords,
    ...(memory?.recalled.filter(isGiven).map(({ text }) => text) ?? []),
    ...(memory?.to_confirm.filter(isGiven).map(({ text }) => text) ?? []),
    ...(elements?.filter(isGiven).map((element) => element.content) ?? []),
  ];
  const isOwn = <T extends { readonly id: string }>(each: T) => !isGiven(each);
  return {
    ...record,
    body: {
      ...record.body,
      ...(memory && { memory: ownMemory(memory, { isOwn, given }) }),
      ...(asked && { asked: asked.filter((id) => !given.has(id)) }),
      ...(elements && { elements: elements.filter(isOwn) }),
      ...(placed && { placed: placed.map((each) => ({ ...each, elements: each.elements.filter((id) => isOwn({ id })) })) }),
      ...(metadata.sources && { metadata: { ...metadata, sources: metadata.sources.filter(isOwn) } }),
      ...(sharesWord(content, words, ownWords) && { repeats_merge: mergeId }),
    },
  };
}

function ownMemory(
  memory: NonNullable<MessageRecord["body"]["memory"]>,
  { isOwn, given }: { readonly isOwn: (each: { readonly id: string }) => boolean; readonly given: ReadonlySet<string> },
): NonNullable<MessageRecord["body"]["memory"]> {
  const { recalled, to_confirm, used } = memory;
  return { ...memory, recalled: recalled.filter(isOwn), to_confirm: to_confirm.filter(isOwn), used: used.filter((id) => !given.has(id)) };
}

/** Whether one of the ids stands in what a tool gave. */
function mentions(value: unknown, ids: ReadonlySet<string>): boolean {
  return (
    ids.size > 0 &&
    (JSON.stringify(value) ?? "").split(BETWEEN_IDS).some((each) => ids.has(each.slice(-ID_CHARS)) || ids.has(each.slice(0, ID_CHARS)))
  );
}
