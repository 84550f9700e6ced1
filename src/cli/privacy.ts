import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { AppError } from "../platform/errors.js";
import type { Backend } from "./backend.js";
import { EXIT, type ExitCode } from "./exit-codes.js";
import type { Terminal } from "./terminal.js";

/** The name by which programs are told to write to stdout. */
const STDOUT = "-";

/**
 * Everything about the user as JSON: to stdout (no `file`, or `-`), or to a file that only its owner can read and that is there whole or
 * not at all.
 */
export async function exportCommand(terminal: Terminal, backend: Backend, file: string | undefined): Promise<void> {
  if (file === undefined || file === STDOUT) {
    const { stdout } = terminal.streams;
    for await (const piece of backend.export()) if (!stdout.write(piece)) await new Promise((resolve) => stdout.once("drain", resolve));
    return;
  }
  const partial = `${file}.${randomUUID()}.partial`;
  let bytes = 0;
  const progress = terminal.progress("Exporting (bytes)");
  try {
    const handle = await open(partial, "wx", 0o600);
    try {
      for await (const piece of backend.export()) {
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
}

/** Erases the user once a person has typed who that is, or with `yes`. */
export async function eraseCommand(
  terminal: Terminal,
  backend: Backend,
  options: { readonly user: string; readonly yes: boolean },
): Promise<ExitCode> {
  if (!options.yes) await confirm(terminal, options.user);
  const receipt = await backend.erase();
  terminal.result(receipt);
  terminal.line(`Receipt ${receipt.receipt_id}, ${receipt.completed_at}`);
  for (const [what, count] of Object.entries(receipt.erased)) terminal.line(`  ${what.replaceAll("_", " ")}: ${count}`);
  if (receipt.verified) {
    terminal.line(terminal.colours.green("Looked everywhere: nothing is left."));
    return EXIT.ok;
  }
  const left = Object.entries(receipt.residue ?? {}).map(([store, count]) => `${store} (${count})`);
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
