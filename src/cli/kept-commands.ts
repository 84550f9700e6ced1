import type { Command } from "commander";
import { AppError } from "../platform/errors.js";
import { nearestName } from "../platform/nearest-name.js";
import type { Backend } from "./backend.js";
import { addMemory, deleteSession, forgetMemory, listMemories, listSessions, showSession, showWhy } from "./memories.js";
import { printable, type Terminal } from "./terminal.js";

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
