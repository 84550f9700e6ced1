import type { ExportedMemory, ExportedMessage, ExportedSession, ExportedStep } from "../domain/export-format.js";
import { normalised } from "../domain/folded-text.js";
import { fromBase64, imageIdOf, imageTypeOf, MAX_IMAGE_BYTES, MAX_IMAGE_URL_CHARS, type MessageImage } from "../domain/image.js";
import type { MemorySource, RestorableMemory } from "../domain/memory.js";
import type { Owner } from "../domain/owner.js";
import type { NewRecord } from "../domain/session.js";
import type { ErrorDetail } from "../platform/errors.js";
import { derivedId } from "../platform/ids.js";
import { isTimeZone } from "../platform/time-zone.js";

/** Records that are written together. Those of a `rewound` part are taken back right after. */
export interface JournalPart {
  readonly rewound: boolean;
  readonly records: readonly NewRecord[];
}

/**
 * The journal that an exported session came from: the same messages under the same ids and times. The turns' write-back counts as done:
 * what came of it is in the export's memories. Pure.
 */
export function journalParts(owner: Owner, sessionId: string, session: ExportedSession): JournalPart[] {
  const idOf = (what: string) => derivedId("message", owner, sessionId, "restored", what);
  const spoken = new Set(session.messages.map(({ turn }) => turn));
  const silent = session.steps.filter(({ turn }) => !spoken.has(turn)).map(stepRecord);
  const runs: { rewound: boolean; records: NewRecord[] }[] = [{ rewound: false, records: [...opening(owner, session, idOf), ...silent] }];
  session.messages.forEach((message, i) => {
    let run = runs.at(-1);
    if (run === undefined || run.rewound !== message.rewound) {
      run = { rewound: message.rewound, records: [] };
      runs.push(run);
    }
    if (message.role === "assistant" && isFirstAnswer(session.messages, i)) run.records.push(...stepsOf(session.steps, message));
    run.records.push(messageRecord(message));
    if (isUnanswered(session.messages, i)) run.records.push(...stepsOf(session.steps, message));
    const ends = message.role === "assistant" && message.outcome !== undefined && message.imported !== true;
    if (ends || message.ingested === true) run.records.push(writtenBack(message, idOf(`done ${i}`)));
  });
  const closing = closingRecords(session, idOf);
  const last = runs.at(-1);
  if (last !== undefined && !last.rewound) last.records.push(...closing);
  else if (closing.length > 0) runs.push({ rewound: false, records: closing });
  return runs;
}

function opening(owner: Owner, session: ExportedSession, idOf: (what: string) => string): NewRecord[] {
  const {
    created_at: at,
    external_id,
    title,
    title_by,
    topic,
    topic_by,
    tags,
    tags_by,
    metadata,
    agent_type,
    expires_at,
    forked_from,
  } = session;
  const patch = { type: "session_patch", turn: 0, at } as const;
  return [
    {
      type: "session",
      id: idOf("session"),
      turn: 0,
      at,
      body: { owner, external_id, title: title_by === "user" ? title : null, metadata, agent_type, expires_at, forked_from },
    },
    ...(topic_by === null ? [] : [{ ...patch, id: idOf("topic"), body: { topic, by: topic_by } }]),
    ...(tags_by === null ? [] : [{ ...patch, id: idOf("tags"), body: { tags, by: tags_by } }]),
  ];
}

function closingRecords(session: ExportedSession, idOf: (what: string) => string): NewRecord[] {
  const { title, title_by, summary, status, status_since: at, status_before_delete } = session;
  const patch = { type: "session_patch", turn: 0, at } as const;
  // What the user does is activity; what retention does is not.
  const by = Date.parse(at) > Date.parse(session.updated_at) ? ("retention" as const) : ("user" as const);
  return [
    { ...patch, id: idOf("last activity"), at: session.updated_at, body: { by: "user" } },
    // Behind the messages: one that was taken back takes the name along that it gave.
    ...(title_by === "derived" ? [{ ...patch, id: idOf("title"), at: session.updated_at, body: { title, by: title_by } }] : []),
    ...(summary === null
      ? []
      : [
          {
            type: "summary" as const,
            id: summary.id,
            turn: 0,
            at: summary.created_at,
            body: summaryBody(summary),
          },
        ]),
    ...(status === "archived" || status_before_delete === "archived"
      ? [{ ...patch, id: idOf("archived"), body: { status: "archived" as const, by } }]
      : []),
    ...(status === "deleted" ? [{ ...patch, id: idOf("deleted"), body: { status, by } }] : []),
  ];
}

type Summary = NonNullable<ExportedSession["summary"]>;

function summaryBody({ id: _, created_at: __, searchable, ...body }: Summary): Extract<NewRecord, { type: "summary" }>["body"] {
  return { ...body, ...(searchable === undefined ? {} : { searchable }) };
}

/** True for the first answer of its user message: the steps of the turn stand before it. */
function isFirstAnswer(messages: readonly ExportedMessage[], at: number): boolean {
  const [before, here] = [messages[at - 1], messages[at]];
  return before === undefined || before.role !== "assistant" || before.turn !== here?.turn || before.rewound !== here.rewound;
}

/** True for the user message of a turn in which nothing but tool calls followed, of a conversation that another agent led. */
function isUnanswered(messages: readonly ExportedMessage[], at: number): boolean {
  const here = messages[at];
  if (here?.ingested !== true || here.role !== "user") return false;
  for (let next = at + 1; messages[next]?.turn === here.turn; next++) if (messages[next]?.role === "assistant") return false;
  return true;
}

function stepsOf(steps: readonly ExportedStep[], answer: ExportedMessage): NewRecord[] {
  return steps.filter(({ turn, rewound }) => turn === answer.turn && rewound === answer.rewound).map(stepRecord);
}

function stepRecord({ turn, rewound: _, ...body }: ExportedStep): NewRecord {
  return { type: "step", id: body.id, turn, at: body.started_at, body };
}

/** A zone that is none here is passed over: nothing depends on it that an import could be refused for. */
function messageRecord({ id, turn, created_at, rewound: _, time_zone, ...body }: ExportedMessage): NewRecord {
  const zoned = time_zone !== undefined && isTimeZone(time_zone) ? { time_zone } : {};
  return { type: "message", id, turn, at: created_at, body: { ...body, ...zoned } };
}

function writtenBack({ turn, created_at }: ExportedMessage, id: string): NewRecord {
  return { type: "write_back_done", id, turn, at: created_at, body: { status: "skipped", memory_ids: [], attempts: 0 } };
}

/**
 * An export's memories with what its own messages say of them: one whose quote stands in no user message of its session has no source. The
 * same for a change that waits. Pure.
 */
export function bornOut(memories: readonly ExportedMemory[], sessions: readonly ExportedSession[]): RestorableMemory[] {
  const said = new Map<string, NonNullable<RestorableMemory["said"]>>();
  for (const session of sessions) {
    let before: string | null = null;
    for (const { id, role, content } of session.messages) {
      if (role === "user") said.set(keyOf(session.id, id), { text: content, before });
      else if (role === "assistant") before = content;
    }
  }
  const saidOf = (source: MemorySource | null) => {
    const message = source === null ? undefined : said.get(keyOf(source.session_id, source.message_id));
    return source !== null && message !== undefined && isQuoted(source.quote, message.text) ? message : null;
  };
  return memories.map((memory) => {
    const { source, pending_change: change } = memory;
    const message = saidOf(source);
    const asks = change?.source ?? null;
    return {
      ...memory,
      source: message === null ? null : source,
      pending_change: change !== null && asks !== null && saidOf(asks) === null ? { ...change, source: null } : change,
      ...(message !== null && { said: message }),
    };
  });
}

function keyOf(sessionId: string, messageId: string): string {
  return JSON.stringify([sessionId, messageId]);
}

function isQuoted(quote: string, message: string): boolean {
  if (quote === "") return false;
  const words = normalised(quote);
  return message.includes(quote) || (words !== "" && normalised(message).includes(words));
}

export interface RestorableSession {
  /** Its messages name the images that can be kept, without their bytes. */
  readonly session: ExportedSession;
  /** By id. */
  readonly images: ReadonlyMap<string, Uint8Array>;
  /** What is no image, or another than it is said to be. */
  readonly leftOut: readonly ErrorDetail[];
}

type ExportedImage = NonNullable<ExportedMessage["images"]>[number];

/** Looks at the images of an exported session as at those of a chat. `pointer`: where the session stands in the document. */
export async function withRestorableImages(session: ExportedSession, pointer: string): Promise<RestorableSession> {
  const images = new Map<string, Uint8Array>();
  const leftOut: ErrorDetail[] = [];
  const messages: ExportedMessage[] = [];
  for (const [at, message] of session.messages.entries()) {
    const kept: MessageImage[] = [];
    for (const [place, given] of (message.images ?? []).entries()) {
      const data = fromBase64(given.data ?? "");
      const image = data === null ? byAddress(given) : await byData(given, data);
      if (image !== null) kept.push(image);
      else
        leftOut.push({
          pointer: `${pointer}/messages/${at}/images/${place}`,
          detail: `an image of message ${message.id} is not in the export, or can't be read`,
        });
      if (image !== null && data !== null) images.set(image.id, data);
    }
    const { images: _, ...rest } = message;
    messages.push(kept.length === 0 ? rest : { ...rest, images: kept });
  }
  return { session: { ...session, messages }, images, leftOut };
}

async function byData({ id }: ExportedImage, data: Uint8Array): Promise<MessageImage | null> {
  const mediaType = imageTypeOf(data);
  if (mediaType === null || data.byteLength > MAX_IMAGE_BYTES || (await imageIdOf(data)) !== id) return null;
  return { id, media_type: mediaType, bytes: data.byteLength };
}

function byAddress({ id, url }: ExportedImage): MessageImage | null {
  if (url === undefined || url.length > MAX_IMAGE_URL_CHARS || !url.startsWith("https://")) return null;
  return { id, media_type: null, bytes: null, url };
}
