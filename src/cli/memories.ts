import type { Memory } from "../domain/memory.js";
import type { Session } from "../domain/session.js";
import { AppError } from "../platform/errors.js";
import { isId } from "../platform/ids.js";
import type { Why } from "../ports/resources.js";
import type { Backend } from "./backend.js";
import { printable, type Terminal } from "./terminal.js";

/** `maitred memories` and `maitred sessions`: what is kept of a user, to look at and to change without a conversation. */

/** @throws INVALID_REQUEST for what can't be an id; `list`: the command that shows them */
function idFrom(given: string, list: string): string {
  if (isId(given)) return given;
  throw new AppError("INVALID_REQUEST", { detail: `"${printable(given)}" is no id.`, hint: `Give one as \`${list}\` shows it, whole.` });
}

export async function listMemories(terminal: Terminal, backend: Backend, query: string): Promise<void> {
  const found = await (query === "" ? backend.memories() : backend.search(query));
  terminal.results(found);
  if (found.length === 0) terminal.line(query === "" ? "Nothing is remembered." : "Nothing that is remembered fits.");
  memoryLines(terminal, found, ({ id }) => terminal.colours.dim(id));
}

export async function addMemory(terminal: Terminal, backend: Backend, text: string, options: { readonly hard: boolean }): Promise<void> {
  if (text.trim() === "") throw new AppError("INVALID_REQUEST", { detail: "There is nothing to remember." });
  const memory = await backend.remember(text, options);
  terminal.result(memory);
  terminal.line(`Remembered: ${printable(memory.text)}`);
}

export async function showWhy(terminal: Terminal, backend: Backend, id: string): Promise<void> {
  const why = await backend.why(idFrom(id, "maitred memories"));
  terminal.result(why);
  whyLines(terminal, why);
}

export async function forgetMemory(terminal: Terminal, backend: Backend, id: string): Promise<void> {
  await backend.forget(idFrom(id, "maitred memories"));
  terminal.result({ forgotten: id });
  terminal.line("Forgotten.");
}

export async function listSessions(terminal: Terminal, backend: Backend): Promise<void> {
  const found = await backend.sessions();
  terminal.results(found);
  if (found.length === 0) terminal.line("There are no conversations yet.");
  for (const session of found) sessionLine(terminal, session, terminal.colours.dim(session.id));
}

export async function showSession(terminal: Terminal, backend: Backend, id: string): Promise<void> {
  const messages = await backend.messages(idFrom(id, "maitred sessions"));
  terminal.results(messages);
  const { bold } = terminal.colours;
  for (const { role, content } of messages) terminal.line(`${bold(role === "user" ? "You:" : "Maitred:")} ${printable(content)}`);
}

export async function deleteSession(terminal: Terminal, backend: Backend, id: string): Promise<void> {
  await backend.deleteSession(idFrom(id, "maitred sessions"));
  terminal.result({ deleted: id });
  terminal.line("Deleted. It can be restored until retention takes it.");
}

/** Memories, conversations and messages as lines for a person, in conversations and by commands alike. */

/** `name`: how each can be named in a command: its number, or its id. */
export function memoryLines(terminal: Terminal, memories: readonly Memory[], name: (memory: Memory, position: number) => string): void {
  for (const [position, memory] of memories.entries()) {
    const { text, category, strength } = memory;
    const about = `(${printable(category)}${strength === "hard" ? ", must hold" : ""})`;
    terminal.line(`${name(memory, position)}  ${printable(text)} ${terminal.colours.dim(about)}`);
  }
}

export function sessionLine(terminal: Terminal, { title, updated_at }: Session, name: string): void {
  const when = terminal.colours.dim(new Date(updated_at).toLocaleString());
  terminal.line(`${name} ${printable(title ?? "New conversation")} ${when}`);
}

/** The words behind a memory, and when they were said. */
export function whyLines(terminal: Terminal, { memory, source, because }: Why): void {
  const { bold, dim } = terminal.colours;
  terminal.line(bold(printable(memory.text)));
  if (source === null && because.length === 0) terminal.line("Stated by hand.");
  if (source !== null) {
    const said = source.message ?? source.quote;
    terminal.line(said === "" ? "What was said is not kept any more." : `You said: “${printable(said)}”`);
    terminal.line(dim(`${new Date(memory.stated_at).toLocaleString()}, in conversation ${source.session_id}, turn ${source.turn}`));
  }
  for (const { text } of because) terminal.line(`Made of: ${printable(text)}`);
}
