import type { RetentionReport } from "../after-turn/retention.js";
import type { Owner } from "../domain/owner.js";
import type { PromotionReport } from "../memories/promotion.js";
import type { JournalCheck } from "../ports/session-store.js";
import { EXIT, type ExitCode } from "./exit-codes.js";
import type { Terminal } from "./terminal.js";

/** A SQLite file, every page of which was looked at. */
export interface DatabaseCheck {
  readonly path: string;
  readonly damaged: boolean;
}

/** Work on the stores as a whole, over all users: only where the storage directory is. */
export interface Maintenance {
  /** Rebuilds what is derived (list of sessions, history) from the journals. Calls no model but the embedder. Returns counts by name. */
  reindex(options: {
    readonly signal: AbortSignal;
    readonly onProgress: (done: number, total: number) => void;
  }): Promise<Readonly<Record<string, number>>>;
  /** Writes the store of memories anew from their logs. Calls no model but the embedder. Returns counts by name. */
  reindexMemories(options: {
    readonly signal: AbortSignal;
    readonly onProgress: (done: number, total: number) => void;
  }): Promise<Readonly<Record<string, number>>>;
  promote(options: {
    readonly owner?: Owner;
    readonly signal: AbortSignal;
    readonly onProgress: (report: PromotionReport) => void;
  }): Promise<PromotionReport>;
  retention(options: {
    readonly dryRun: boolean;
    readonly signal: AbortSignal;
    readonly onProgress: (report: RetentionReport) => void;
  }): Promise<RetentionReport>;
  pendingWriteBacks(): Promise<{ readonly pending: number; readonly failed: number }>;
  openErasures(): Promise<number>;
  journals(): AsyncIterable<JournalCheck>;
  /** Takes time in proportion to the files. */
  databases(): AsyncIterable<DatabaseCheck>;
}

/** `memories`: only these, from their logs: also into a server that this installation never wrote to. */
export async function reindexCommand(
  terminal: Terminal,
  maintenance: Maintenance,
  { memories, signal }: { readonly memories: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const progress = terminal.progress("Rebuilding");
  try {
    const options = { signal, onProgress: progress.update };
    const counts = await (memories ? maintenance.reindexMemories(options) : maintenance.reindex(options));
    progress.stop();
    terminal.result(counts);
    terminal.line(
      `Rebuilt: ${Object.entries(counts)
        .map(([what, count]) => `${count} ${what.replaceAll("_", " ")}`)
        .join(", ")}.`,
    );
  } finally {
    progress.stop();
  }
}

export async function promoteCommand(
  terminal: Terminal,
  maintenance: Maintenance,
  options: { readonly owner?: Owner; readonly signal: AbortSignal },
): Promise<ExitCode> {
  const progress = terminal.progress("Sessions");
  try {
    let looked = 0;
    const onProgress = () => {
      looked += 1;
      progress.update(looked, 0);
    };
    const report = await maintenance.promote({ ...options, onProgress });
    progress.stop();
    terminal.result(report);
    terminal.line(`${report.messages} messages of ${report.sessions} sessions: ${report.stored} memories, ${report.confirmed} confirmed.`);
    if (report.failed_sessions === 0) return EXIT.ok;
    terminal.note(`${report.failed_sessions} sessions were broken off by an error. Run it again to go on.`);
    return EXIT.attention;
  } finally {
    progress.stop();
  }
}

export async function retentionCommand(
  terminal: Terminal,
  maintenance: Maintenance,
  options: { readonly dryRun: boolean; readonly signal: AbortSignal },
): Promise<ExitCode> {
  const progress = terminal.progress("Sessions");
  try {
    const report = await maintenance.retention({
      ...options,
      onProgress: ({ deleted, purged }) => progress.update(deleted + purged, 0),
    });
    progress.stop();
    terminal.result(report);
    const would = report.dry_run ? "would be " : "";
    terminal.line(`${report.deleted} sessions ${would}deleted (recoverable), ${report.purged} ${would}purged.`);
    if (report.busy > 0) terminal.line(`${report.busy} were in use; the next run looks again.`);
    if (report.failed === 0) return EXIT.ok;
    terminal.note(`${report.failed} could not be changed; see the log, and run it again.`);
    return EXIT.attention;
  } finally {
    progress.stop();
  }
}
