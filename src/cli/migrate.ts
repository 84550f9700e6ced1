import type { MigrationReport } from "../operations/migrate.js";
import type { StateCounts } from "../operations/state-counts.js";
import type { StateBackend } from "../ports/transfer.js";
import { EXIT, type ExitCode } from "./exit-codes.js";
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
  const progress = terminal.progress("Partitions, moved and compared");
  let report: MigrationReport;
  try {
    report = await migrate({ from, to }, { signal, onProgress: progress.update });
  } finally {
    progress.stop();
  }
  terminal.result(report);
  const target = linesOf(report.target);
  terminal.line(`${"".padEnd(22)}${from.padStart(12)}${to.padStart(12)}`);
  for (const [at, [what, count]] of linesOf(report.source).entries())
    terminal.line(`${what.padEnd(22)}${String(count).padStart(12)}${String(target[at]?.[1] ?? 0).padStart(12)}`);
  const { damaged_records: records, damaged_journals: journals } = report.left_behind;
  const left = [
    ...(records > 0 ? [`${records} damaged records`] : []),
    ...(journals > 0 ? [`${journals} journals whose owner can't be told`] : []),
  ];
  if (left.length > 0) terminal.note(`Left behind: ${left.join(", ")}. See \`maitred doctor\`.`);
  for (const difference of report.differences) terminal.note(terminal.colours.red(`Not the same: ${difference}`));
  if (report.differences.length > 0) {
    terminal.note(`${report.differences.length} differences. Nothing was changed in ${from}; go on there.`);
    return EXIT.attention;
  }
  terminal.line(terminal.colours.green(`The same in both, to the last record. ${report.moved} entries were moved by this run.`));
  terminal.line(`Start servers on ${to} only, from now on. What ${from} holds stays as it is.`);
  return left.length > 0 ? EXIT.attention : EXIT.ok;
}

function linesOf({ rows, ...counts }: StateCounts): readonly (readonly [string, number])[] {
  return [...Object.entries(counts), ...Object.entries(rows)].map(([what, count]) => [what.replaceAll("_", " "), count]);
}
