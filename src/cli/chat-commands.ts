import { type ToConfirm, toConfirmOf } from "../domain/to-confirm.js";
import { AppError } from "../platform/errors.js";
import { isId } from "../platform/ids.js";
import type { Backend } from "./backend.js";
import { addMemory, forgetMemory, memoryLines, sessionLine, whyLines } from "./memories.js";
import { printable, type Terminal } from "./terminal.js";

export interface ChatState {
  /** Null before the first message of a new session. */
  sessionId: string | null;
  /** What was listed last, so that it can be named by its number. */
  readonly listed: { memories: readonly string[]; sessions: readonly string[]; waiting: readonly ToConfirm[] };
}

type Run = (terminal: Terminal, backend: Backend, state: ChatState, argument: string) => Promise<void>;

interface ChatCommand {
  /** What follows its name, for the help. */
  readonly takes?: string;
  readonly does: string;
  readonly run: Run;
}

/** What can be said in a conversation beside messages. `/quit` is the conversation's own. */
export const CHAT_COMMANDS: Readonly<Record<string, ChatCommand>> = {
  "/memories": { does: "what I know about you", run: memories },
  "/why": { takes: "<number>", does: "the words that a memory comes from", run: why },
  "/remember": {
    takes: "<text>",
    does: "keep something, as you say it",
    run: (terminal, backend, _, text) => addMemory(terminal, backend, text, { hard: false }),
  },
  "/forget": { takes: "<number>", does: "forget a memory for good", run: forget },
  "/confirm": { takes: "[<number> yes|no]", does: "what waits for your word", run: confirm },
  "/new": { does: "begin a new conversation", run: startNew },
  "/sessions": { does: "your conversations", run: sessions },
  "/resume": { takes: "<number>", does: "go on with one of them", run: resume },
  "/help": { does: "these commands", run: help },
  "/quit": { does: "leave", run: async () => {} },
};

/** Whether a line is one of them, and no slip of the pen. */
export function isChatCommand(line: string): boolean {
  return Object.hasOwn(CHAT_COMMANDS, line.split(/\s+/)[0] ?? "");
}

/** @throws INVALID_REQUEST for an unknown command or number, and what the command throws */
export async function runChatCommand(terminal: Terminal, backend: Backend, state: ChatState, line: string): Promise<void> {
  const [name = "", ...rest] = line.split(/\s+/);
  const command = Object.hasOwn(CHAT_COMMANDS, name) ? CHAT_COMMANDS[name] : undefined;
  if (!command)
    throw new AppError("INVALID_REQUEST", {
      detail: `There is no ${printable(name)}.`,
      hint: `Try ${Object.keys(CHAT_COMMANDS).join(", ")}.`,
    });
  await command.run(terminal, backend, state, rest.join(" "));
}

async function help(terminal: Terminal): Promise<void> {
  const rows = Object.entries(CHAT_COMMANDS).map(([name, { takes = "", does }]) => ({ name: `${name} ${takes}`.trim(), does }));
  terminal.result(rows);
  const width = Math.max(...rows.map(({ name }) => name.length));
  for (const { name, does } of rows) terminal.line(`  ${name.padEnd(width)}  ${terminal.colours.dim(does)}`);
}

/** What was said in this conversation is in it. */
async function memories(terminal: Terminal, backend: Backend, state: ChatState): Promise<void> {
  if (state.sessionId !== null) await backend.flush(state.sessionId);
  const found = await backend.memories();
  state.listed.memories = found.map(({ id }) => id);
  terminal.result(found);
  if (found.length === 0) terminal.line("Nothing is remembered.");
  memoryLines(terminal, found, (_, position) => String(position + 1).padStart(3));
}

async function why(terminal: Terminal, backend: Backend, state: ChatState, argument: string): Promise<void> {
  const found = await backend.why(chosen(argument, state.listed.memories, "/memories"));
  terminal.result(found);
  whyLines(terminal, found);
}

async function forget(terminal: Terminal, backend: Backend, state: ChatState, argument: string): Promise<void> {
  await forgetMemory(terminal, backend, chosen(argument, state.listed.memories, "/memories"));
}

/** Alone it shows what waits for the user's word; with a number and yes or no it settles that one. */
async function confirm(terminal: Terminal, backend: Backend, state: ChatState, argument: string): Promise<void> {
  const [which = "", word = ""] = argument.split(/\s+/);
  if (which === "") {
    const waiting = (await backend.waiting()).flatMap((memory) => toConfirmOf(memory) ?? []);
    terminal.result(waiting);
    if (waiting.length === 0) terminal.line("Nothing waits for your word.");
    showWaiting(terminal, state, waiting);
    return;
  }
  if (word !== "yes" && word !== "no")
    throw new AppError("INVALID_REQUEST", { detail: "Yes or no?", hint: "For instance /confirm 1 yes." });
  const id = chosen(
    which,
    state.listed.waiting.map((each) => each.id),
    "/confirm",
  );
  const text = state.listed.waiting.find((each) => each.id === id)?.text;
  const memory = await (word === "yes" ? backend.approve(id) : backend.reject(id));
  terminal.result(memory);
  terminal.line(`${word === "yes" ? "Settled" : "Dropped"}: ${printable(text ?? memory.text)}`);
}

/** Numbers what waits, so that `/confirm` can name it. */
export function showWaiting(terminal: Terminal, state: ChatState, waiting: readonly ToConfirm[]): void {
  state.listed.waiting = waiting;
  for (const [position, { text, subject, strength, change }] of waiting.entries()) {
    const who = subject.startsWith("companion:") ? `${subject.slice("companion:".length)}: ` : "";
    const must = strength === "hard" ? " (must hold)" : "";
    terminal.line(terminal.colours.yellow(`  ${position + 1}  ${change === undefined ? "Keep: " : ""}${printable(who + text)}${must}?`));
  }
  if (waiting.length > 0) terminal.line(terminal.colours.dim("/confirm <number> yes or no, or just say it."));
}

async function startNew(terminal: Terminal, _backend: Backend, state: ChatState): Promise<void> {
  state.sessionId = null;
  terminal.result({ session_id: null });
  terminal.line("A new conversation.");
}

async function sessions(terminal: Terminal, backend: Backend, state: ChatState): Promise<void> {
  const found = await backend.sessions();
  state.listed.sessions = found.map(({ id }) => id);
  terminal.result(found);
  if (found.length === 0) terminal.line("There are no conversations yet.");
  for (const [position, session] of found.entries()) {
    const mark = session.id === state.sessionId ? "*" : " ";
    sessionLine(terminal, session, `${String(position + 1).padStart(3)}${mark}`);
  }
}

async function resume(terminal: Terminal, backend: Backend, state: ChatState, argument: string): Promise<void> {
  const session = await backend.session(chosen(argument, state.listed.sessions, "/sessions"));
  if (session.status !== "active") throw new AppError("SESSION_NOT_ACTIVE");
  state.sessionId = session.id;
  terminal.result(session);
  terminal.line(`On with: ${printable(session.title ?? "New conversation")}`);
}

/** A number of the list that was shown last, or an id. */
function chosen(argument: string, listed: readonly string[], list: string): string {
  const id = /^\d{1,4}$/.test(argument) ? listed[Number(argument) - 1] : argument;
  if (id === undefined || !isId(id))
    throw new AppError("INVALID_REQUEST", { detail: "Which one?", hint: `Give its number as ${list} shows it, or its id.` });
  return id;
}
