import type { Owner } from "../domain/owner.js";
import type { NewRecord } from "../domain/session.js";
import { derivedId } from "../platform/ids.js";
import type { ImportLine } from "./import-line.js";

type MessageRecord = Extract<NewRecord, { type: "message" }>;

/** What a session's journal holds already, as far as an import needs it. */
export interface KnownMessages {
  readonly ids: ReadonlySet<string>;
  readonly lastTurn: number;
  /** The last message's role when its turn still waits for an answer. */
  readonly openTurn: boolean;
}

/**
 * Gives imported lines their ids and turns: null for a line that is there already. The same line of the same conversation always has the
 * same id: from its own `message_id`, or from what it says and how often that was said before. A user's line opens a turn, the assistant's
 * line after it closes it; any other line is a turn of its own.
 */
export function recordMaker(owner: Owner, sessionId: string, now: string, known: KnownMessages | null) {
  const ids = new Set(known?.ids);
  const occurrences = new Map<string, number>();
  let turn = known?.lastTurn ?? 0;
  let open = known?.openTurn ?? false;
  const idOf = ({ message_id, role, name = null, created_at, content }: ImportLine): string => {
    if (message_id !== undefined) return derivedId("message", owner, sessionId, "id", message_id);
    const said = JSON.stringify([role, name, created_at ?? null, content]);
    const before = occurrences.get(said) ?? 0;
    occurrences.set(said, before + 1);
    return derivedId("message", owner, sessionId, "said", said, before);
  };
  return (line: ImportLine): MessageRecord | null => {
    const { role, content, name = null, created_at: at, message_id, metadata } = line;
    const id = idOf(line);
    if (ids.has(id)) return null;
    ids.add(id);
    if (role !== "assistant" || !open) turn += 1;
    open = role === "user";
    return {
      type: "message",
      id,
      turn,
      // What was said can't lie ahead: it would hold only from then on. The line's own time is part of its id all the same.
      at: at === undefined || Date.parse(at) > Date.parse(now) ? now : at,
      body: {
        role,
        content,
        name,
        channel: "import",
        imported: true,
        ...(role === "assistant" ? { outcome: "completed" } : {}),
        ...(message_id === undefined ? {} : { external_id: message_id }),
        ...(metadata === undefined ? {} : { metadata: { custom: metadata } }),
      },
    };
  };
}
