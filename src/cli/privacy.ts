import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { AppError } from "../platform/errors.js";
import type { Backend } from "./backend.js";
import { EXIT, type ExitCode } from "./errors.js";
import type { Terminal } from "./terminal.js";

/** The name by which programs are told to write to stdout. */
const STDOUT = "-";

/**
 * Everything about the user as JSON: to stdout (no `file`, or `-`), or to a file that only its owner can read and that is there whole or
 * not at all.
 */
export async function exportCommand(
  terminal: Terminal,
  backend: Backend,
  { file, user }: { readonly file: string | undefined; readonly user: string },
): Promise<ExitCode> {
  const pieces = await unlessEmpty(backend.export());
  if (pieces === null) return nobody(terminal, `Nothing is kept of a user ${user}.`);
  if (file === undefined || file === STDOUT) {
    const { stdout } = terminal.streams;
    for await (const piece of pieces) if (!stdout.write(piece)) await new Promise((resolve) => stdout.once("drain", resolve));
    return EXIT.ok;
  }
  const partial = `${file}.${randomUUID()}.partial`;
  let bytes = 0;
  const progress = terminal.progress("Exporting (bytes)");
  try {
    const handle = await open(partial, "wx", 0o600);
    try {
      for await (const piece of pieces) {
        bytes += (await handle.write(piece)).bytesWritten;
        progress.update(bytes, 0);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  } finally {
    progress.stop();
  }
  terminal.result({ file, bytes });
  terminal.line(`${file}: ${bytes} bytes.`);
  return EXIT.ok;
}

/** An export of nobody is shorter, in characters. */
const MAX_EMPTY = 4_096;

/** The pieces of an export; null where it holds nothing of anybody. */
async function unlessEmpty(pieces: AsyncIterable<string>): Promise<AsyncIterable<string> | null> {
  const all = pieces[Symbol.asyncIterator]();
  let begin = "";
  while (begin.length <= MAX_EMPTY) {
    const next = await all.next();
    if (next.done) return holdsNothing(begin) ? null : from([begin]);
    begin += next.value;
  }
  return from([begin], { [Symbol.asyncIterator]: () => all });
}

async function* from(...parts: readonly (AsyncIterable<string> | Iterable<string>)[]): AsyncGenerator<string> {
  for (const part of parts) yield* part;
}

function holdsNothing(document: string): boolean {
  const { user, sessions, memories, forgotten, records } = JSON.parse(document) as Record<string, unknown>;
  const isEmpty = (list: unknown) => Array.isArray(list) && list.length === 0;
  return user === null && [sessions, memories, forgotten, ...Object.values(records ?? {})].every(isEmpty);
}

/** Whom a command is about isn't there: told as an error is. */
function nobody(terminal: Terminal, detail: string): ExitCode {
  const hint = "`maitred users` lists who has sessions; --user and --tenant say whom a command is about.";
  if (terminal.json) terminal.result({ error: { code: "NOT_FOUND", detail, hint } });
  else terminal.note(`${detail}\n${hint}`);
  return EXIT.failure;
}

/** Erases the user once a person has typed who that is, or with `yes`. */
export async function eraseCommand(
  terminal: Terminal,
  backend: Backend,
  options: { readonly user: string; readonly yes: boolean },
): Promise<ExitCode> {
  if (!options.yes) await confirm(terminal, options.user);
  const receipt = await backend.erase();
  const isEmpty = receipt.verified && Object.values(receipt.erased).every((count) => count === 0);
  if (isEmpty) return nobody(terminal, `Nothing was kept of a user ${options.user}, and nothing was erased.`);
  terminal.result(receipt);
  terminal.line(`Receipt ${receipt.receipt_id}, ${receipt.completed_at}`);
  for (const [what, count] of Object.entries(receipt.erased)) terminal.line(`  ${what.replaceAll("_", " ")}: ${count}`);
  for (const id of receipt.destroyed_keys ?? [])
    terminal.line(`  destroyed first: data key ${id}; backups of before hold nothing of theirs`);
  if (receipt.verified) {
    terminal.line(terminal.colours.green("Looked everywhere: nothing is left."));
    return EXIT.ok;
  }
  if (receipt.unverified !== undefined) terminal.note(terminal.colours.red(receipt.unverified));
  if (receipt.residue === undefined) return EXIT.attention;
  const left = Object.entries(receipt.residue).map(([store, count]) => `${store} (${count})`);
  terminal.note(terminal.colours.red(`Something is left in: ${left.join(", ")}. Run it again, then \`maitred doctor\`.`));
  return EXIT.attention;
}

async function confirm(terminal: Terminal, user: string): Promise<void> {
  if (!terminal.interactive) throw new AppError("CONFIRMATION_REQUIRED", { hint: "Add --yes." });
  const { stdin, stdout } = terminal.streams;
  const asking = createInterface({ input: stdin, output: stdout });
  try {
    const typed = await asking.question(`This erases everything of ${user}, for good. Type the user's name to go on: `);
    if (typed.trim() !== user)
      throw new AppError("CONFIRMATION_REQUIRED", { detail: "Nothing was erased.", hint: "Type the name exactly." });
  } finally {
    asking.close();
  }
}
