import { AppError } from "../platform/errors.js";
import { isId } from "../platform/ids.js";
import type { Backend } from "./backend.js";
import { memoryLines, sessionLine, whyLines } from "./memory-lines.js";
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
