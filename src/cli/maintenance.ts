import type { RetentionReport } from "../after-turn/retention.js";
import type { Owner } from "../domain/owner.js";
import type { PromotionReport } from "../memories/promotion.js";
import type { KnownUser } from "../ports/operator.js";
import type { JournalCheck } from "../ports/session-store.js";
import { EXIT, type ExitCode } from "./errors.js";
import { printable, type Terminal } from "./terminal.js";

/** A SQLite file, every page of which was looked at. */
export interface DatabaseCheck {
  readonly path: string;
  readonly damaged: boolean;
}

/** A session in which turns were given up: their messages are not read. */
export interface GivenUpTurns {
  readonly tenant: string;
  readonly user: string;
  readonly sessionId: string;
  readonly turns: number;
  /** What the last of them failed with; null where that isn't known. */
  readonly code: string | null;
}

/** How work over all users is ended, and told how far it is; `total`: 0 while it is not known. */
export interface Course {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

/** Work over all users: of the stores themselves, or of a server that has them. */
export interface OverAllUsers {
  /**
   * Brings what is derived (list of sessions, history) level with the journals; where no server has the stores, from nothing. Calls no
   * model but the embedder. Returns counts by name.
   */
  reindex(options: Course): Promise<Readonly<Record<string, number>>>;
  /** Writes the store of memories anew from their logs. Calls no model but the embedder. Returns counts by name. */
  reindexMemories(options: Course): Promise<Readonly<Record<string, number>>>;
  /** `owner`: of this one alone, which a server is not asked for. */
  promote(options: Course & { readonly owner?: Owner }): Promise<PromotionReport>;
  retention(options: Course & { readonly dryRun: boolean }): Promise<RetentionReport>;
  /** Who has sessions, of a tenant or of all. */
  users(tenant: string | undefined): AsyncIterable<KnownUser>;
}

/** The same, and what can be looked at only where the storage directory is. */
export interface Maintenance extends OverAllUsers {
  pendingWriteBacks(): Promise<{ readonly pending: number; readonly failed: number }>;
  /** Session by session. Takes a look at each user who has sessions. */
  givenUpTurns(): AsyncIterable<GivenUpTurns>;
  openErasures(): Promise<number>;
  /** By the store's own mark: the id of the data key that it is encrypted under; null where it is in clear. */
  encryptedUnder(): Promise<string | null>;
  journals(): AsyncIterable<JournalCheck>;
  /** Takes time in proportion to the files. */
  databases(): AsyncIterable<DatabaseCheck>;
}

/** `memories`: only these, from their logs: also into a server that this installation never wrote to. */
export async function reindexCommand(
  terminal: Terminal,
  maintenance: Pick<OverAllUsers, "reindex" | "reindexMemories">,
  { memories, signal }: { readonly memories: boolean; readonly signal: AbortSignal },
): Promise<void> {
  const work = memories ? "reindexMemories" : "reindex";
  const counts = await terminal.during("Rebuilding", (onProgress) => maintenance[work]({ signal, onProgress }));
  terminal.result(counts);
  const told = Object.entries(counts).map(([what, count]) => `${count} ${what.replaceAll("_", " ")}`);
  terminal.line(`Rebuilt: ${told.join(", ")}.`);
}

export async function promoteCommand(
  terminal: Terminal,
  maintenance: Pick<OverAllUsers, "promote">,
  options: { readonly owner?: Owner; readonly signal: AbortSignal },
): Promise<ExitCode> {
  const report = await terminal.during("Sessions", (onProgress) => maintenance.promote({ ...options, onProgress }));
  terminal.result(report);
  terminal.line(`${report.messages} messages of ${report.sessions} sessions: ${report.stored} memories, ${report.confirmed} confirmed.`);
  if (report.failed_sessions === 0) return EXIT.ok;
  terminal.note(`${report.failed_sessions} sessions were broken off by an error. Run it again to go on.`);
  return EXIT.attention;
}

export async function retentionCommand(
  terminal: Terminal,
  maintenance: Pick<OverAllUsers, "retention">,
  options: { readonly dryRun: boolean; readonly signal: AbortSignal },
): Promise<ExitCode> {
  const report = await terminal.during("Sessions", (onProgress) => maintenance.retention({ ...options, onProgress }));
  terminal.result(report);
  const would = report.dry_run ? "would be " : "";
  terminal.line(`${report.deleted} sessions ${would}deleted (recoverable), ${report.purged} ${would}purged.`);
  if (report.busy > 0) terminal.line(`${report.busy} were in use; the next run looks again.`);
  if (report.failed === 0) return EXIT.ok;
  terminal.note(`${report.failed} could not be changed; see the log, and run it again.`);
  return EXIT.attention;
}

export async function usersCommand(
  terminal: Terminal,
  maintenance: Pick<OverAllUsers, "users">,
  tenant: string | undefined,
): Promise<void> {
  for await (const user of maintenance.users(tenant)) {
    terminal.result(user);
    terminal.line(printable(`${user.tenant}\t${user.user}\t${user.sessions} sessions\t${user.last_active_at}`));
  }
}
