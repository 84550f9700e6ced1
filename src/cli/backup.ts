import type { BackupOptions, BackupReport, Backups } from "../ports/backups.js";
import type { Terminal } from "./terminal.js";

export async function backupCommand(terminal: Terminal, backups: Backups, to: string, signal: AbortSignal): Promise<void> {
  const report = await withProgress(terminal, "Files, copied", (onProgress) => backups.backUp(to, { signal, onProgress }));
  terminal.result(report);
  terminal.line(terminal.colours.green(`${report.sessions} sessions in ${report.files} files, as of ${report.at} or later: ${to}`));
  terminal.line("Who is erased after this is still in it: repeat their erasure after a restore, or delete the copy.");
}

export async function restoreCommand(terminal: Terminal, backups: Backups, from: string, signal: AbortSignal): Promise<void> {
  const report = await withProgress(terminal, "Files, restored", (onProgress) => backups.restore(from, { signal, onProgress }));
  terminal.result(report);
  terminal.line(terminal.colours.green(`${report.sessions} sessions are back, as of ${report.at}.`));
  terminal.line("The next start makes the list of sessions and the history anew; memories follow from their logs.");
}

async function withProgress(
  terminal: Terminal,
  label: string,
  work: (onProgress: BackupOptions["onProgress"]) => Promise<BackupReport>,
): Promise<BackupReport> {
  const progress = terminal.progress(label);
  try {
    return await work(progress.update);
  } finally {
    progress.stop();
  }
}
