import { type ExportDocument, type ExportedMessage, type ExportedSession, parseExport } from "../domain/export-format.js";
import { normalised } from "../domain/folded-text.js";
import type { GivenImage } from "../domain/image.js";
import type { Memory } from "../domain/memory.js";
import type { Owner } from "../domain/owner.js";
import type { RecalledMemory, RecallStatus, Usage } from "../domain/session.js";
import { AppError } from "../platform/errors.js";
import { addTo } from "../platform/lists.js";
import { present } from "../platform/present.js";
import type { Application } from "../ports/application.js";
import type { ChatAnswer } from "../ports/resources.js";

/** The product over stores of its own: what is replayed is written nowhere else. */
export type ReplayTrial = Pick<Application, "chat" | "imports" | "memories" | "close">;

export interface TurnToReplay {
  readonly owner: Owner;
  /** The user's export, as text. */
  readonly exported: string;
  /** Its id, or the application's name of it. */
  readonly sessionId: string;
  readonly turn: number;
  /** In the place of the product's. */
  readonly prompt?: string;
  /** At that time. The trial is closed behind the answer. */
  readonly open: (at: Date) => Promise<ReplayTrial>;
  readonly signal: AbortSignal;
}

/** An answer, and how it came about. What isn't known is null. */
export interface ReplayedAnswer {
  readonly content: string;
  readonly model: string | null;
  /** Of each step, in order. */
  readonly tools: readonly string[];
  readonly memoryStatus: RecallStatus | null;
  readonly recalled: readonly RecalledMemory[] | null;
  /** Ids of memories that shaped it. */
  readonly used: readonly string[] | null;
  readonly usage: Usage | null;
  readonly cost: number | null;
  readonly durationMs: number | null;
}

interface ReplayedTurn {
  /** Null for a turn that was not answered. */
  readonly recorded: ReplayedAnswer | null;
  readonly replayed: ReplayedAnswer;
}

/** What is taken in may be as large as what is kept. */
const MAX_BYTES = 512 * 1024 * 1024;

/**
 * Answers a recorded turn once more, with what was known and said before it, at its time. Nothing is booked by it: what binds is shown, and
 * nobody is there to confirm it.
 * @throws SESSION_NOT_FOUND, NOT_FOUND for a turn without a message, INVALID_IMPORT, and what a turn throws
 */
export async function replayTurn({ owner, exported, sessionId, turn, prompt, open, signal }: TurnToReplay): Promise<ReplayedTurn> {
  const document = parseExport(JSON.parse(exported));
  const session = document.sessions.find((each) => each.id === sessionId || each.external_id === sessionId);
  if (session === undefined) throw new AppError("SESSION_NOT_FOUND", { detail: `There is no conversation ${sessionId}.` });
  const said = session.messages.filter((each) => each.turn === turn && !each.rewound);
  const asked = said.find(({ role }) => role === "user");
  if (asked === undefined) throw new AppError("NOT_FOUND", { detail: `No message of turn ${turn} stands in that conversation.` });
  const trial = await open(new Date(asked.created_at));
  try {
    await takeExport(trial, owner, before(document, session, asked), signal);
    const { page_context: pageContext, time_zone: timeZone } = asked;
    const images = imagesOf(asked);
    const answer = await trial.chat.chat(
      {
        owner,
        message: asked.content,
        sessionId: session.id,
        channel: asked.channel,
        ...present({ pageContext, timeZone, prompt }),
        ...(images.length > 0 && { images }),
      },
      { signal },
    );
    const answered = said.findLast(({ role }) => role === "assistant");
    return { recorded: answered === undefined ? null : recordedAnswer(answered, session), replayed: freshAnswer(answer) };
  } finally {
    await trial.close({ drainMs: 0 });
  }
}

/** Parts of an export, and nothing else of it. */
export function onlyOf(document: ExportDocument, parts: Partial<ExportDocument>): object {
  return { ...document, user: null, sessions: [], memories: [], forgotten: [], records: {}, receipts: [], ...parts };
}

/** Takes an export in as it was, nothing of it read. */
export async function takeExport(
  { imports }: Pick<ReplayTrial, "imports">,
  owner: Owner,
  exported: object,
  signal: AbortSignal,
): Promise<void> {
  await imports.import(owner, asBytes(JSON.stringify(exported)), { format: "export", extract: false, maxBytes: MAX_BYTES, signal });
}

/** Takes messages in, a JSON document each, and forms memories of them. */
export async function readMessages(
  { imports }: Pick<ReplayTrial, "imports">,
  owner: Owner,
  messages: readonly object[],
  how: { readonly signal: AbortSignal; readonly onProgress?: (done: number, total: number) => void },
): Promise<void> {
  const lines = messages.map((message) => JSON.stringify(message)).join("\n");
  await imports.import(owner, asBytes(lines), { format: "ndjson", extract: true, maxBytes: MAX_BYTES, ...how });
}

async function* asBytes(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text, "utf8");
}

/** What was said and known before a message of a session, of all sessions. */
function before(document: ExportDocument, session: ExportedSession, { created_at, turn }: ExportedMessage): object {
  const isBefore = (at: string) => Date.parse(at) < Date.parse(created_at);
  const sessions = document.sessions
    .filter((each) => isBefore(each.created_at) || each === session)
    .map((each): ExportedSession => {
      const messages = each.messages.filter((message) => (each === session ? message.turn < turn : isBefore(message.created_at)));
      const turns = new Set(messages.map((message) => message.turn));
      const summary = each.summary !== null && turns.has(each.summary.to_turn) && isBefore(each.summary.created_at) ? each.summary : null;
      return { ...each, status: "active", messages, steps: each.steps.filter((step) => turns.has(step.turn)), summary };
    });
  // As it was then: what took its place came later.
  const memories = document.memories
    .filter(({ stated_at }) => isBefore(stated_at))
    .map((memory) =>
      memory.status === "superseded" && !isBefore(memory.updated_at)
        ? { ...memory, status: "active" as const, superseded_by: null }
        : memory,
    );
  return onlyOf(document, { sessions, memories });
}

/** Those that can be shown again. */
function imagesOf({ images = [] }: ExportedMessage): readonly GivenImage[] {
  return images.flatMap(({ data, url }): readonly GivenImage[] => {
    if (data !== undefined) return [{ data: Buffer.from(data, "base64") }];
    return url === undefined ? [] : [{ url }];
  });
}

function recordedAnswer({ content, metadata, memory, timing, turn }: ExportedMessage, { steps }: ExportedSession): ReplayedAnswer {
  const { tokens } = metadata;
  return {
    content,
    model: metadata.model ?? null,
    tools: steps.filter((step) => step.turn === turn && !step.rewound).map(({ name }) => name),
    memoryStatus: memory?.status ?? null,
    recalled: memory?.recalled ?? null,
    used: memory?.used ?? null,
    usage: tokens ?? null,
    cost: tokens?.cost ?? null,
    durationMs: timing?.total_ms ?? null,
  };
}

function freshAnswer({ message, steps, memory, usage, timing }: ChatAnswer): ReplayedAnswer {
  return {
    content: message.content,
    model: message.metadata?.model ?? null,
    tools: steps.map(({ name }) => name),
    memoryStatus: memory.status,
    recalled: memory.recalled,
    used: memory.used,
    usage,
    cost: usage.cost,
    durationMs: timing.total_ms,
  };
}

/** What of a memory two readings of the same messages are compared by. */
export type ComparedMemory = Pick<Memory, "text" | "category" | "need" | "subject" | "strength" | "stated_at"> & {
  /** `review`: it waits for the guest's word. */
  readonly status: "active" | "review";
  readonly quote: string | null;
};

export interface MemoryDifferences {
  readonly same: number;
  readonly added: readonly ComparedMemory[];
  readonly lost: readonly ComparedMemory[];
  readonly changed: readonly { readonly before: ComparedMemory; readonly after: ComparedMemory }[];
  /** What must hold and is lost, or is soft now; those are among the lost and the changed, too. */
  readonly needs_lost: readonly ComparedMemory[];
}

/**
 * Pairs memories of before with those of now: those that say the same of the same person, then those of one need, then those of one message
 * and category. What is left over was lost, or added.
 */
export function memoryDifferences(before: readonly ComparedMemory[], after: readonly ComparedMemory[]): MemoryDifferences {
  const left = new Set(after);
  const pairs: { readonly before: ComparedMemory; readonly after: ComparedMemory }[] = [];
  let unpaired = [...before];
  for (const keyOf of KEYS) {
    const byKey = new Map<string | null, ComparedMemory[]>();
    for (const each of left) addTo(byKey, keyOf(each), each);
    unpaired = unpaired.filter((each) => {
      const key = keyOf(each);
      const pair = key === null ? undefined : byKey.get(key)?.shift();
      if (pair === undefined) return true;
      left.delete(pair);
      pairs.push({ before: each, after: pair });
      return false;
    });
  }
  const changed = pairs.filter((pair) => !isSame(pair.before, pair.after));
  const softened = changed.filter((pair) => pair.before.strength === "hard" && pair.after.strength === "soft");
  return {
    same: pairs.length - changed.length,
    added: [...left],
    lost: unpaired,
    changed,
    needs_lost: [...unpaired.filter(({ strength }) => strength === "hard"), ...softened.map((pair) => pair.before)],
  };
}

const KEYS: readonly ((memory: ComparedMemory) => string | null)[] = [
  ({ subject, text }) => JSON.stringify([subject, normalised(text)]),
  ({ subject, need }) => need && JSON.stringify([subject, need]),
  ({ subject, category, stated_at }) => JSON.stringify([subject, category, Date.parse(stated_at)]),
];

function isSame(a: ComparedMemory, b: ComparedMemory): boolean {
  return normalised(a.text) === normalised(b.text) && a.strength === b.strength && a.status === b.status;
}
