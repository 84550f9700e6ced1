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
 * Gives imported lines their ids and turns. The same line of the same conversation always has the same id: from its own
 * `message_id`, or from what it says and how often that was said before. A user's line opens a turn, the assistant's line after it
 * closes it; any other line is a turn of its own.
 */
export class ImportedRecords {
  readonly #owner: Owner;
  readonly #sessionId: string;
  readonly #now: string;
  readonly #known: Set<string>;
  readonly #occurrences = new Map<string, number>();
  #turn: number;
  #open: boolean;

  constructor(options: { readonly owner: Owner; readonly sessionId: string; readonly now: string; readonly known: KnownMessages }) {
    this.#owner = options.owner;
    this.#sessionId = options.sessionId;
    this.#now = options.now;
    this.#known = new Set(options.known.ids);
    this.#turn = options.known.lastTurn;
    this.#open = options.known.openTurn;
  }

  /** Null for a line that is there already. */
  next(line: ImportLine): MessageRecord | null {
    const id = this.#idOf(line);
    if (this.#known.has(id)) return null;
    this.#known.add(id);
    const answers = line.role === "assistant" && this.#open;
    if (!answers) this.#turn += 1;
    this.#open = line.role === "user";
    return {
      type: "message",
      id,
      turn: this.#turn,
      at: this.#said(line),
      body: {
        role: line.role,
        content: line.content,
        name: line.name ?? null,
        channel: "import",
        imported: true,
        ...(line.role === "assistant" ? { outcome: "completed" } : {}),
        ...(line.message_id === undefined ? {} : { external_id: line.message_id }),
        ...(line.metadata === undefined ? {} : { metadata: { custom: line.metadata } }),
      },
    };
  }

  /** What was said can't lie ahead: it would hold only from then on. The line's own time is part of its id all the same. */
  #said({ created_at: at }: ImportLine): string {
    return at === undefined || Date.parse(at) > Date.parse(this.#now) ? this.#now : at;
  }

  #idOf(line: ImportLine): string {
    if (line.message_id !== undefined) return derivedId("message", this.#owner, this.#sessionId, "id", line.message_id);
    const said = JSON.stringify([line.role, line.name ?? null, line.created_at ?? null, line.content]);
    const before = this.#occurrences.get(said) ?? 0;
    this.#occurrences.set(said, before + 1);
    return derivedId("message", this.#owner, this.#sessionId, "said", said, before);
  }
}
