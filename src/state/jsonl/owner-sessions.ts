import { join } from "node:path";
import { z } from "zod";
import type { FileSystem } from "../../platform/file-system.js";
import { isId } from "../../platform/ids.js";
import { JsonlLog, lineValue } from "../../platform/jsonl-log.js";
import { KeyedMutex } from "../../platform/keyed-mutex.js";

const SUFFIX = ".sessions";
/** An empty file: from here on every journal of the directory stands in its owner's list. */
const COMPLETE = "sessions.complete";

const entrySchema = z.object({ v: z.literal(1), session: z.string().refine(isId) });

/**
 * Which sessions an owner ever had here, so that nobody has to open everybody's journals to find theirs:
 * `owners/{first 16 hex digits of the owner's SHA-256}.sessions`, a line per session, appended before its journal is made. It says where to
 * look, never what is there: a journal that is gone stays listed. Holds ids alone.
 */
export class OwnerSessions {
  readonly #dir: string;
  readonly #fs: FileSystem;
  readonly #mutex = new KeyedMutex();
  #complete = false;

  private constructor(dir: string, fs: FileSystem) {
    this.#dir = join(dir, "owners");
    this.#fs = fs;
  }

  static async open(dir: string, fs: FileSystem): Promise<OwnerSessions> {
    const lists = new OwnerSessions(dir, fs);
    await fs.mkdir(lists.#dir);
    await fs.syncDirectory(dir);
    lists.#complete = (await fs.stat(join(lists.#dir, COMPLETE))) !== null;
    return lists;
  }

  /** False in a directory that is older than these lists, until all that it holds has been added. */
  get complete(): boolean {
    return this.#complete;
  }

  /** Durable on resolve. */
  async markComplete(): Promise<void> {
    const file = await this.#fs.open(join(this.#dir, COMPLETE), "create");
    await file.close();
    await this.#fs.syncDirectory(this.#dir);
    this.#complete = true;
  }

  /** One that is new. Durable on resolve. `mark`: see ownerMark. */
  async add(mark: string, sessionId: string): Promise<void> {
    await this.#append(mark, async () => [sessionId]);
  }

  /** Those that aren't listed yet. Durable on resolve. */
  async addMissing(mark: string, sessionIds: readonly string[]): Promise<void> {
    await this.#append(mark, async (log) => {
      const { ids } = await listedIn(log);
      return sessionIds.filter((id) => !ids.has(id));
    });
  }

  async #append(mark: string, idsFor: (log: JsonlLog) => Promise<readonly string[]>): Promise<void> {
    await this.#mutex.run(mark, async () => {
      const path = this.#path(mark);
      const log = (await JsonlLog.open(this.#fs, path))?.log ?? (await JsonlLog.create(this.#fs, path));
      try {
        const ids = await idsFor(log);
        if (ids.length === 0) return;
        // Also where an earlier try has made the file and got no further.
        const isFirst = log.end === 0;
        await log.append(Buffer.from(ids.map((session) => `${JSON.stringify({ v: 1, session })}\n`).join("")));
        if (isFirst) await this.#fs.syncDirectory(this.#dir);
      } finally {
        await log.close();
      }
    });
  }

  /** Null where the list can't be relied upon: the directory has journals that no list has, or a line of it is damaged. */
  async of(mark: string): Promise<ReadonlySet<string> | null> {
    if (!this.#complete) return null;
    return this.#mutex.run(mark, async () => {
      const opened = await JsonlLog.open(this.#fs, this.#path(mark));
      if (opened === null) return new Set();
      try {
        const { ids, damaged } = await listedIn(opened.log);
        return damaged ? null : ids;
      } finally {
        await opened.log.close();
      }
    });
  }

  /** For one who has looked that none of the listed journals is there any more. Durable on resolve. */
  async remove(mark: string): Promise<void> {
    await this.#mutex.run(mark, async () => {
      const path = this.#path(mark);
      if ((await this.#fs.stat(path)) === null) return;
      await this.#fs.unlink(path);
      await this.#fs.syncDirectory(this.#dir);
    });
  }

  #path(mark: string): string {
    return join(this.#dir, `${mark}${SUFFIX}`);
  }
}

async function listedIn(log: JsonlLog): Promise<{ readonly ids: ReadonlySet<string>; readonly damaged: boolean }> {
  const ids = new Set<string>();
  let damaged = false;
  for await (const lines of log.forwards())
    for (const line of lines) {
      const session = entrySchema.safeParse(lineValue(line)).data?.session;
      if (session === undefined) damaged = true;
      else ids.add(session);
    }
  return { ids, damaged };
}
