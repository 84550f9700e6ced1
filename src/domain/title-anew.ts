import type { JournalRecord } from "./session.js";
import { provenanceOf } from "./session-provenance.js";
import { titleFrom } from "./title.js";

/** What was forgotten, and when (ISO 8601): the messages that told it, by the ids under which they were first said. */
export interface ForgottenMessages {
  readonly messageIds: readonly string[];
  readonly at: string;
}

/**
 * The turns of a session in which something was said that was forgotten later, or that the user asked not to keep, each with when that
 * was last. `by`: who said it. Default: anybody. Pure.
 */
export function forgottenTurns(
  records: readonly JournalRecord[],
  forgotten: readonly ForgottenMessages[],
  by?: "user",
): ReadonlyMap<number, string> {
  const atOf = new Map<string, string>();
  for (const { messageIds, at } of forgotten) for (const id of messageIds) if (at > (atOf.get(id) ?? "")) atOf.set(id, at);
  const turns = new Map<number, string>();
  const hide = (turn: number, at: string | undefined) => {
    if (at !== undefined && at > (turns.get(turn) ?? "")) turns.set(turn, at);
  };
  for (const record of records) {
    if (record.type === "off_record") hide(record.body.of_turn, record.at);
    else if (record.type === "message" && (by === undefined || record.body.role === by))
      hide(record.turn, atOf.get(record.id) ?? atOf.get(record.body.origin_id ?? record.id));
  }
  return turns;
}

/**
 * The title of a session whose own may repeat what was forgotten since: its first user message that nothing was forgotten of, or null
 * where there is none. Undefined where the title may stay: the user's own, an incognito session's, one that was made of other messages,
 * and one that was made after the forgetting. A name that a model gave may repeat any message of before. Pure.
 */
export function titleAnew(records: readonly JournalRecord[], forgotten: readonly ForgottenMessages[]): string | null | undefined {
  const turns = forgottenTurns(records, forgotten);
  if (turns.size === 0) return undefined;
  const { title, titleBy, metadata } = provenanceOf(records);
  if (title === null || titleBy !== "derived" || metadata.incognito === true) return undefined;
  const said = records.flatMap((record) =>
    record.type === "message" && record.body.role === "user" ? [{ turn: record.turn, title: titleFrom(record.body.content) }] : [],
  );
  const sources = said.filter((message) => message.title === title);
  const madeAt = records.findLast((record) => record.type === "session_patch" && record.body.title === title)?.at ?? "";
  const told = forgottenTurns(records, forgotten, "user");
  const hidden = sources.length > 0 ? told : turns;
  const repeats = (sources.length > 0 ? sources : said).some(({ turn }) => (hidden.get(turn) ?? "") >= madeAt && hidden.has(turn));
  const anew = said.find(({ turn }) => !told.has(turn))?.title ?? null;
  return repeats && anew !== title ? anew : undefined;
}
