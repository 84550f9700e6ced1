import type { Backups } from "../operations/backup.js";
import { EXIT, type ExitCode } from "./exit-codes.js";
import { noteDifferences, noteLeftBehind } from "./migrate.js";
import type { Terminal } from "./terminal.js";

export async function backupCommand(terminal: Terminal, backups: Backups, to: string, signal: AbortSignal): Promise<ExitCode> {
  const report = await terminal.during("Partitions, copied", (onProgress) => backups.backUp(to, { signal, onProgress }));
  terminal.result(report);
  const { at, holds } = report;
  terminal.line(terminal.colours.green(`${holds.users} users, ${holds.sessions} sessions, ${holds.messages} messages: ${to}`));
  terminal.line(`What was answered before ${at} is in it. Keep both files together: they are checked against each other.`);
  if (report.encrypted)
    terminal.line("Its keys are not in it: `maitred keys save` copies them. Who is erased after this can't be read in it any more.");
  else terminal.line("Who is erased after this is still in it: repeat their erasure after a restore, or delete the copy.");
  return noteLeftBehind(terminal, report) ? EXIT.attention : EXIT.ok;
}

/** Tells where the store is not the same as the backup. */
export async function restoreCommand(terminal: Terminal, backups: Backups, from: string, signal: AbortSignal): Promise<ExitCode> {
  const report = await terminal.during("Partitions, restored and compared", (onProgress) => backups.restore(from, { signal, onProgress }));
  terminal.result(report);
  if (noteDifferences(terminal, report, "Run the same command again.")) return EXIT.attention;
  const { at, source } = report;
  terminal.line(terminal.colours.green(`${source.users} users and ${source.sessions} sessions are back, as of ${at}, to the last record.`));
  terminal.line(
    "Vectors follow: the next start makes local ones anew; with a server of vectors run `maitred reindex --memories`, then `reindex`.",
  );
  return EXIT.ok;
}
