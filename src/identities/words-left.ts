import type { Owner } from "../domain/owner.js";
import { isAppError } from "../platform/errors.js";
import type { MergedSessions } from "../ports/merged-sessions.js";
import type { MergeRecords } from "./merge-record.js";

/**
 * What users whom an owner was merged with, and is no more, still hold of the owner's words: an erasure takes it out there as well, and
 * looks. What those users said themselves stays.
 */
export class WordsLeft {
  /** As a receipt names it. */
  readonly name = "answers_to_others";
  readonly #records: MergeRecords;
  readonly #sessions: Pick<MergedSessions, "forget" | "left">;

  constructor(records: MergeRecords, sessions: Pick<MergedSessions, "forget" | "left">) {
    this.#records = records;
    this.#sessions = sessions;
  }

  async erase(owner: Owner): Promise<Readonly<Record<string, number>>> {
    const merges = await this.#records.undoneOf(owner);
    let answers = 0;
    for (const merge of merges) answers += await this.#sessions.forget(merge).catch(erasedThemselves);
    return merges.length === 0 ? {} : { [this.name]: answers };
  }

  async residue(owner: Owner): Promise<number> {
    let left = 0;
    for (const merge of await this.#records.undoneOf(owner)) left += await this.#sessions.left(merge);
    return left;
  }
}

/** Whoever is being erased themselves has nothing left afterwards. */
function erasedThemselves(error: unknown): number {
  if (isAppError(error, "OWNER_ERASED")) return 0;
  throw error;
}
