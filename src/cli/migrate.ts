import type { Backups } from "../operations/backup.js";
import type { MigrationReport } from "../operations/migrate.js";
import type { StateCounts } from "../operations/state-counts.js";
import type { StateBackend } from "../ports/transfer.js";
import { EXIT, type ExitCode } from "./errors.js";
import type { Terminal } from "./terminal.js";

export type MigrateState = (
  backends: { readonly from: StateBackend; readonly to: StateBackend },
  options: { readonly signal: AbortSignal; readonly onProgress: (done: number, total: number) => void },
) => Promise<MigrationReport>;

/** Moves all state from one backend to another, and prints what both hold; tells where they differ. */
export async function migrateCommand(
  terminal: Terminal,
  migrate: MigrateState,
  { from, to, signal }: { readonly from: StateBackend; readonly to: StateBackend; readonly signal: AbortSignal },
): Promise<ExitCode> {
  const report = await terminal.during("Partitions, moved and compared", (onProgress) => migrate({ from, to }, { signal, onProgress }));
  terminal.result(report);
  const target = linesOf(report.target);
  terminal.line(`${"".padEnd(22)}${from.padStart(12)}${to.padStart(12)}`);
  for (const [at, [what, count]] of linesOf(report.source).entries())
    terminal.line(`${what.padEnd(22)}${String(count).padStart(12)}${String(target[at]?.[1] ?? 0).padStart(12)}`);
  const left = noteLeftBehind(terminal, report);
  if (noteDifferences(terminal, report, `Nothing was changed in ${from}; go on there.`)) return EXIT.attention;
  terminal.line(terminal.colours.green(`The same in both, to the last record. ${report.moved} entries were moved by this run.`));
  terminal.line(`Start servers on ${to} only, from now on. What ${from} holds stays as it is.`);
  return left ? EXIT.attention : EXIT.ok;
}

/** Tells what could not be read. Whether there is any. */
export function noteLeftBehind(terminal: Terminal, { left_behind }: Pick<MigrationReport, "left_behind">): boolean {
  const { damaged_records: records, damaged_journals: journals } = left_behind;
  const left = [
    ...(records > 0 ? [`${records} damaged records`] : []),
    ...(journals > 0 ? [`${journals} journals whose owner can't be told`] : []),
  ];
  if (left.length > 0) terminal.note(`Left behind: ${left.join(", ")}. See \`maitred doctor\`.`);
  return left.length > 0;
}

/** Tells what is not the same in both stores, and what to do then. Whether there is any. */
export function noteDifferences(terminal: Terminal, { differences }: Pick<MigrationReport, "differences">, advice: string): boolean {
  for (const difference of differences) terminal.note(terminal.colours.red(`Not the same: ${difference}`));
  if (differences.length > 0) terminal.note(`${differences.length} differences. ${advice}`);
  return differences.length > 0;
}

function linesOf({ rows, ...counts }: StateCounts): readonly (readonly [string, number])[] {
  return [...Object.entries(counts), ...Object.entries(rows)].map(([what, count]) => [what.replaceAll("_", " "), count]);
}

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
