import type { ExportedMemory, ExportedMessage, ExportedSession } from "../domain/export-format.js";
import type { Memory } from "../domain/memory.js";
import type { Owner } from "../domain/owner.js";
import { type ExportDocument, parseExport } from "../import/export-document.js";
import { type ComparedMemory, type MemoryDifferences, memoryDifferences } from "../operations/memory-differences.js";
import { AppError } from "../platform/errors.js";
import type { Application, ChatAnswer } from "../ports/application.js";
import { EXIT, type ExitCode } from "./exit-codes.js";
import { printable, type Terminal } from "./terminal.js";

/** The product over stores of its own: what is replayed is written nowhere else. */
export type ReplayTrial = Pick<Application, "chat" | "imports" | "memories" | "close">;

interface Replayed {
  readonly owner: Owner;
  /** The user's export, as text. */
  readonly exported: string;
  readonly open: () => Promise<ReplayTrial>;
  readonly signal: AbortSignal;
}

/** More than this of a user's is read in parts of their own. */
const MAX_BYTES = 512 * 1024 * 1024;
const PAGE = 200;

/**
 * Forms the memories of a user's conversations anew, and tells what is different. Ends with 6 where more is lost than may be.
 */
export async function replayMemoriesCommand(
  terminal: Terminal,
  { owner, exported, open, signal }: Replayed,
  { mayLose, mayLoseNeeds }: { readonly mayLose: number; readonly mayLoseNeeds: number },
): Promise<ExitCode> {
  const document = parseExport(JSON.parse(exported));
  const messages = document.sessions.flatMap(replayable);
  const trial = await open();
  try {
    await take(trial, owner, only(document, { forgotten: document.forgotten }), signal);
    await terminal.during("Reading", (onProgress) => read(trial, owner, messages, { signal, onProgress }));
    const after = (await everyMemory(trial, owner)).flatMap(comparable);
    return tell(terminal, memoryDifferences(document.memories.flatMap(comparable), after), {
      messages: messages.length,
      mayLose,
      mayLoseNeeds,
    });
  } finally {
    await trial.close({ drainMs: 0 });
  }
}

/** Answers a turn that was answered once more, with what was known and said before it, and tells both answers. Nothing is booked by it. */
export async function replayTurnCommand(
  terminal: Terminal,
  { owner, exported, open, signal }: Replayed,
  { sessionId, turn, prompt }: { readonly sessionId: string; readonly turn: number; readonly prompt?: string },
): Promise<ExitCode> {
  const document = parseExport(JSON.parse(exported));
  const session = document.sessions.find((each) => each.id === sessionId || each.external_id === sessionId);
  const said = session?.messages.filter((each) => each.turn === turn && !each.rewound) ?? [];
  const asked = said.find(({ role }) => role === "user");
  if (session === undefined || asked === undefined)
    throw new AppError("SESSION_NOT_FOUND", { detail: `There is no turn ${turn} of a conversation ${sessionId}.` });
  const trial = await open();
  try {
    await take(trial, owner, before(document, session, asked), signal);
    const answer = await trial.chat.chat(
      { owner, message: asked.content, sessionId: session.id, ...(prompt !== undefined && { prompt }) },
      { signal },
    );
    return tellTurn(terminal, said.findLast(({ role }) => role === "assistant") ?? null, stepsOf(session, turn), answer);
  } finally {
    await trial.close({ drainMs: 0 });
  }
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
  return only(document, { sessions, memories });
}

function only(document: ExportDocument, parts: Partial<ExportDocument>): object {
  return { ...document, user: null, sessions: [], memories: [], forgotten: [], records: {}, receipts: [], ...parts };
}

/** A session's messages as they are imported: not what was taken back, nor what was not to be remembered. */
function replayable({ id, status, metadata, messages }: ExportedSession): object[] {
  if (status === "deleted" || metadata.incognito === true) return [];
  return messages
    .filter(({ rewound, interim, role, remember }) => !rewound && interim !== true && (role !== "user" || remember))
    .map(({ role, content, created_at, id: messageId }) => ({ session_id: id, role, content, created_at, message_id: messageId }));
}

/** Takes an export in as it was, nothing of it read. */
async function take({ imports }: ReplayTrial, owner: Owner, exported: object, signal: AbortSignal): Promise<void> {
  await imports.import(owner, bytesOf(JSON.stringify(exported)), { format: "export", extract: false, maxBytes: MAX_BYTES, signal });
}

/** Takes messages in, a JSON document each, and forms memories of them. */
export async function read(
  { imports }: ReplayTrial,
  owner: Owner,
  messages: readonly object[],
  how: { readonly signal: AbortSignal; readonly onProgress?: (done: number, total: number) => void },
): Promise<void> {
  const lines = messages.map((message) => JSON.stringify(message)).join("\n");
  await imports.import(owner, bytesOf(lines), { format: "ndjson", extract: true, maxBytes: MAX_BYTES, ...how });
}

async function* bytesOf(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text, "utf8");
}

export async function everyMemory({ memories }: Pick<ReplayTrial, "memories">, owner: Owner): Promise<readonly Memory[]> {
  const all: Memory[] = [];
  for (const status of ["active", "review"] as const)
    for (let cursor: string | undefined; ; ) {
      const page = await memories.list(owner, { status, limit: PAGE, ...(cursor !== undefined && { cursor }) });
      all.push(...page.data);
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
  return all;
}

/** What came of a message and stands: neither what was added by hand nor what was made of others. */
function comparable(memory: ExportedMemory | Memory): readonly ComparedMemory[] {
  const { text, category, need, subject, strength, status, stated_at, source, type } = memory;
  if (type === "narrative" || source === null || source.message_id.startsWith("by-hand:")) return [];
  return status === "active" || status === "review"
    ? [{ text, category, need, subject, strength, status, stated_at, quote: source.quote }]
    : [];
}

function tell(
  terminal: Terminal,
  differences: MemoryDifferences,
  { messages, mayLose, mayLoseNeeds }: { readonly messages: number; readonly mayLose: number; readonly mayLoseNeeds: number },
): ExitCode {
  const { same, added, lost, changed, needs_lost } = differences;
  const { green, red, yellow, bold } = terminal.colours;
  const isOver = lost.length > mayLose || needs_lost.length > mayLoseNeeds;
  terminal.result({ messages, ...differences, passed: !isOver });
  for (const each of added) terminal.line(green(`+ ${lineOf(each)}`));
  for (const pair of changed) terminal.line(yellow(`~ ${lineOf(pair.before)} → ${lineOf(pair.after)}`));
  for (const each of lost) terminal.line(`- ${lineOf(each)}`);
  for (const each of needs_lost)
    terminal.line(bold(red(`! a need is lost: ${lineOf(each)}${each.quote === null ? "" : ` (“${printable(each.quote)}”)`}`)));
  terminal.line(`${messages} messages: ${same} memories the same, ${added.length} added, ${changed.length} changed, ${lost.length} lost.`);
  return isOver ? EXIT.attention : EXIT.ok;
}

function lineOf({ text, strength, status, subject }: ComparedMemory): string {
  const marks = [subject === "self" ? "" : subject, strength === "hard" ? "must hold" : "", status === "review" ? "waits" : ""];
  const told = marks.filter((mark) => mark !== "").join(", ");
  return printable(told === "" ? text : `${text} (${told})`);
}

function stepsOf({ steps }: ExportedSession, turn: number): readonly string[] {
  return steps.filter((step) => step.turn === turn && !step.rewound).map(({ name }) => name);
}

function tellTurn(terminal: Terminal, recorded: ExportedMessage | null, steps: readonly string[], answer: ChatAnswer): ExitCode {
  const now = {
    content: answer.message.content,
    steps: answer.steps.map(({ name }) => name),
    recalled: answer.memory.recalled.map(({ text }) => text),
  };
  const then = recorded && { content: recorded.content, steps, recalled: recorded.memory?.recalled.map(({ text }) => text) ?? null };
  terminal.result({ recorded: then, replayed: now });
  const { bold } = terminal.colours;
  for (const [title, each] of [["As it was answered", then] as const, ["Replayed", now] as const]) {
    terminal.line(bold(title));
    terminal.line(each === null ? "It was not answered." : printable(each.content));
    if (each !== null && each.steps.length > 0) terminal.line(`  by ${each.steps.join(", ")}`);
    for (const text of each?.recalled ?? []) terminal.line(`  knew: ${printable(text)}`);
    terminal.line();
  }
  return EXIT.ok;
}
