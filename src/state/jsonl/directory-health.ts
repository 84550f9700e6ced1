import { join } from "node:path";
import { isAppError } from "../../platform/errors.js";
import { FailureStreak } from "../../platform/failure-streak.js";
import type { FileSystem } from "../../platform/file-system.js";
import { asStorageError, storageGone } from "../../platform/storage-errors.js";
import type { StorageHealth } from "../../ports/health-history.js";

/** Written, synced and removed when somebody asks whether the directory can be written. */
const PROBE_FILE = "maitred.probe";
/** As much as a long message: a disk that has room for a few bytes only is full. */
const PROBE_BYTES = 64 * 1024;
/** How long the answer of a probe holds, in milliseconds. */
const HOLDS_MS = 3_000;

type Health = Awaited<ReturnType<StorageHealth["health"]>>;

export interface DirectoryHealthOptions {
  readonly dir: string;
  readonly fileSystem: FileSystem;
  /** Milliseconds, from anywhere. Default: performance.now. */
  readonly now?: () => number;
}

/** Whether journals can be written: by how the last writes went, and by a small durable write, which takes place only when asked. */
export class DirectoryHealth implements StorageHealth {
  readonly #dir: string;
  readonly #fs: FileSystem;
  readonly #now: () => number;
  readonly #writes = new FailureStreak();
  #last: "well" | "ill" = "well";
  #identity: string | null = null;
  #probe: { readonly at: number; readonly answer: Promise<Health> } | null = null;

  private constructor({ dir, fileSystem, now = () => performance.now() }: DirectoryHealthOptions) {
    this.#dir = dir;
    this.#fs = fileSystem;
    this.#now = now;
  }

  /** The directory must be there. */
  static async open(options: DirectoryHealthOptions): Promise<DirectoryHealth> {
    const health = new DirectoryHealth(options);
    health.#identity = await health.#fs.identity(health.#dir);
    return health;
  }

  wentWell(): void {
    this.#writes.wentWell();
    this.#changedTo("well");
  }

  failed(): void {
    this.#writes.failed();
    this.#changedTo("ill");
  }

  /** What was probed before does not hold any more. */
  #changedTo(last: "well" | "ill"): void {
    if (this.#last !== last) this.#probe = null;
    this.#last = last;
  }

  /** @throws STORAGE_UNAVAILABLE where another directory, or none, has taken the place of the one that was opened */
  async requireSame(): Promise<void> {
    if ((await this.#fs.identity(this.#dir)) !== this.#identity) throw storageGone();
  }

  async health(): Promise<Health> {
    const now = this.#now();
    if (this.#probe === null || now - this.#probe.at >= HOLDS_MS) this.#probe = { at: now, answer: this.#write() };
    const probed = await this.#probe.answer;
    const failed = this.#writes.told;
    if (probed.status !== "ok" || failed === null) return probed;
    return { status: "degraded", detail: `the last ${failed} writes of journals failed, though the directory can be written` };
  }

  async #write(): Promise<Health> {
    try {
      await this.requireSame();
      const path = join(this.#dir, PROBE_FILE);
      try {
        const file = await this.#fs.open(path, "create");
        try {
          await file.write(Buffer.alloc(PROBE_BYTES), 0);
          await file.datasync();
        } finally {
          await file.close();
        }
      } finally {
        await this.#fs.unlink(path).catch(() => undefined);
      }
      return { status: "ok" };
    } catch (error) {
      return { status: "down", detail: reason(error) };
    }
  }
}

function reason(error: unknown): string {
  const refused = asStorageError(error);
  return isAppError(refused) ? `journals can't be written: ${refused.message} ${refused.hint}` : "journals can't be written";
}
