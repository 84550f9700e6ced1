import { AppError } from "../errors.js";
import type { Backend } from "./backend.js";
import { printable, type Terminal } from "./terminal.js";

export interface ChatState {
  /** Null before the first message of a new session. */
  sessionId: string | null;
  /** What was listed last, so that it can be named by its number. */
  readonly listed: { memories: readonly string[]; sessions: readonly string[] };
}

type Run = (terminal: Terminal, backend: Backend, state: ChatState, argument: string) => Promise<void>;

/** What can be said in a conversation beside messages. `/quit` is the conversation's own. */
export const CHAT_COMMANDS: Readonly<Record<string, Run>> = {
  "/memories": memories,
  "/forget": forget,
  "/new": startNew,
  "/sessions": sessions,
  "/resume": resume,
  "/quit": async () => {},
};

/** @throws INVALID_REQUEST for an unknown command or number, and what the command throws */
export async function runChatCommand(terminal: Terminal, backend: Backend, state: ChatState, line: string): Promise<void> {
  const [name = "", ...rest] = line.split(/\s+/);
  const run = Object.hasOwn(CHAT_COMMANDS, name) ? CHAT_COMMANDS[name] : undefined;
  if (!run)
    throw new AppError("INVALID_REQUEST", {
      detail: `There is no ${printable(name)}.`,
      hint: `Try ${Object.keys(CHAT_COMMANDS).join(", ")}.`,
    });
  await run(terminal, backend, state, rest.join(" "));
}

async function memories(terminal: Terminal, backend: Backend, state: ChatState): Promise<void> {
  const found = await backend.memories();
  state.listed.memories = found.map(({ id }) => id);
  terminal.result(found);
  if (found.length === 0) terminal.line("Nothing is remembered.");
  for (const [position, { text, category, strength }] of found.entries()) {
    const about = `${category}${strength === "hard" ? ", must hold" : ""}`;
    terminal.line(`${String(position + 1).padStart(3)}  ${printable(text)} ${terminal.colours.dim(`(${printable(about)})`)}`);
  }
}

async function forget(terminal: Terminal, backend: Backend, state: ChatState, argument: string): Promise<void> {
  const id = chosen(argument, state.listed.memories, "/memories");
  await backend.forget(id);
  terminal.result({ forgotten: id });
  terminal.line("Forgotten.");
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
  for (const [position, { id, title, updated_at }] of found.entries()) {
    const mark = id === state.sessionId ? "*" : " ";
    const when = terminal.colours.dim(new Date(updated_at).toLocaleString());
    terminal.line(`${String(position + 1).padStart(3)}${mark} ${printable(title ?? "New conversation")} ${when}`);
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
  if (id === undefined || id === "")
    throw new AppError("INVALID_REQUEST", { detail: "Which one?", hint: `Give its number as ${list} shows it, or its id.` });
  return id;
}
