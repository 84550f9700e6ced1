import type { Command } from "commander";
import type { Memory } from "../domain/memory.js";
import type { Session } from "../domain/session.js";
import { AppError } from "../platform/errors.js";
import { isId } from "../platform/ids.js";
import { nearestName } from "../platform/nearest-name.js";
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
  if (found.length === 0)
    terminal.line(
      query === "" ? `Nothing is remembered of this user in ${printable(backend.about.store)}.` : "Nothing that is remembered fits.",
    );
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

/** A command's name with a slip in it is no word to look for. @throws INVALID_REQUEST that names the one that was meant */
function requireNoSlip(list: Command, [first = ""]: readonly string[]): void {
  const names = list.parent?.commands.map((command) => command.name()) ?? [];
  const meant = nearestName(first, names);
  // `memories list forgotten things` says itself that it looks for them.
  if (meant === undefined || list.parent?.args[0] === list.name()) return;
  const of = list.parent?.name() ?? "";
  throw new AppError("INVALID_REQUEST", {
    detail: `There is no command \`maitred ${of} ${printable(first)}\`.`,
    hint: `Did you mean \`maitred ${of} ${meant}\`? \`maitred ${of} list ${printable(first)}\` looks for the word.`,
  });
}

/** `memories` and `sessions`, each with what can be done with them; alone they list. */
export function addKeptCommands(
  program: Command,
  terminal: () => Terminal,
  backend: <T>(work: (backend: Backend) => Promise<T>) => Promise<T>,
): void {
  const memories = program.command("memories").description("what is remembered of the user");
  memories
    .command("list [words...]", { isDefault: true })
    .description("the newest, or the best for some words")
    .action((words: string[], _: unknown, list: Command) => {
      requireNoSlip(list, words);
      return backend((it) => listMemories(terminal(), it, words.join(" ")));
    });
  memories
    .command("add <text...>")
    .description("keep something, as it is said here")
    .option("--hard", "it must hold whenever something is booked", false)
    .action((words: string[], { hard }: { hard: boolean }) => backend((it) => addMemory(terminal(), it, words.join(" "), { hard })));
  memories
    .command("why <id>")
    .description("the words that a memory comes from")
    .action((id: string) => backend((it) => showWhy(terminal(), it, id)));
  memories
    .command("forget <id>")
    .description("forget a memory for good")
    .action((id: string) => backend((it) => forgetMemory(terminal(), it, id)));
  const sessions = program.command("sessions").description("the user's conversations");
  sessions
    .command("list", { isDefault: true })
    .description("the newest 20 that are active")
    .allowExcessArguments()
    .action((_: unknown, list: Command) => {
      requireNoSlip(list, list.args);
      if (list.args.length > 0) throw new AppError("INVALID_REQUEST", { detail: `"${list.args[0]}" is nothing that \`sessions\` can do.` });
      return backend((it) => listSessions(terminal(), it));
    });
  sessions
    .command("show <id>")
    .description("what was said: the newest 200 messages")
    .action((id: string) => backend((it) => showSession(terminal(), it, id)));
  sessions
    .command("delete <id>")
    .description("delete a conversation; it can be restored for a while")
    .action((id: string) => backend((it) => deleteSession(terminal(), it, id)));
}
