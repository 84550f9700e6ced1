import { setTimeout as pause } from "node:timers/promises";
import type { Owner } from "../domain/owner.js";
import { AppError, isAppError } from "../platform/errors.js";
import type { TransferableState, TransferableTable } from "../ports/transfer.js";
import { entryText, ledgerText, recordsOf, recordText, rowText } from "./state-digest.js";

const LOOK_AGAIN_MS = 250;

/**
 * Waits for the leases of processes that were killed, which end by themselves; one that is renewed, or new, is of a process that runs.
 * @throws STORAGE_IN_USE
 */
export async function requireUnused(state: TransferableState, signal: AbortSignal): Promise<void> {
  const first = await state.leases();
  for (let held = first; held.size > 0; held = await state.leases()) {
    for (const [key, until] of held) {
      if (until === first.get(key)) continue;
      throw new AppError("STORAGE_IN_USE", {
        detail: `Another Maitred uses ${state.name}: ${held.size === 1 ? "a lease" : `${held.size} leases`} there is renewed.`,
        hint: "Stop every server and command that uses it, and run this again.",
      });
    }
    await pause(LOOK_AGAIN_MS, undefined, { signal });
  }
}

/** Counts what a move would leave behind: damaged records, and journals that nobody can tell the owner of. */
export async function damageIn({ journal }: TransferableState): Promise<{ readonly records: number; readonly journals: number }> {
  const listed = new Set<string>();
  for await (const { sessionId } of journal.list()) listed.add(sessionId);
  let records = 0;
  let journals = 0;
  for await (const { sessionId, damagedLines } of journal.check()) {
    records += damagedLines.length;
    if (!listed.has(sessionId)) journals += 1;
  }
  return { records, journals };
}

/**
 * Whatever the target holds must be of the source: an earlier try that was broken off. So nothing of anybody is written over, and a move
 * can be begun again. @throws TARGET_NOT_EMPTY
 */
export async function requireNothingElse(source: TransferableState, target: TransferableState): Promise<void> {
  const refuse = (what: string): never => {
    throw new AppError("TARGET_NOT_EMPTY", {
      detail: `${target.name} holds ${what} that ${source.name} does not hold. Nothing was moved.`,
    });
  };
  for await (const { owner, sessionId } of target.journal.list()) {
    const theirs = recordsOf(target, owner, sessionId);
    if (!(await isBeginning(textsOf(theirs, recordText), recordTexts(source, owner, sessionId)))) refuse(`a session (${sessionId})`);
  }
  for await (const owner of target.memoryLog.owners()) {
    const [theirs, ours] = [target, source].map(({ memoryLog }) => textsOf(memoryLog.read(owner), entryText));
    if (theirs !== undefined && ours !== undefined && !(await isBeginning(theirs, ours))) refuse("a user's memories");
  }
  for await (const { hash, contents } of target.ledgers.all()) {
    const ours = hash === null ? null : await source.ledgers.contents(hash);
    if (ours === null || ledgerText(ours) !== ledgerText(contents)) refuse("a user's ledger");
  }
  for (const table of target.tables) {
    // Read only where there is something to compare it with: it may be much.
    let known: ReadonlySet<string> | null = null;
    for await (const row of table.rows()) {
      known ??= await rowsIn(source.tables.find(({ name }) => name === table.name));
      if (!known.has(rowText(row))) refuse(table.name);
    }
  }
}

async function rowsIn(table: TransferableTable | undefined): Promise<ReadonlySet<string>> {
  const texts = new Set<string>();
  for await (const row of table?.rows() ?? []) texts.add(rowText(row));
  return texts;
}

/** None where the source has no such session. */
async function* recordTexts(source: TransferableState, owner: Owner, sessionId: string): AsyncGenerator<string> {
  try {
    yield* textsOf(recordsOf(source, owner, sessionId), recordText);
  } catch (error) {
    if (!isAppError(error, "SESSION_NOT_FOUND")) throw error;
  }
}

async function* textsOf<T>(items: AsyncIterable<T>, text: (item: T) => string): AsyncGenerator<string> {
  for await (const item of items) yield text(item);
}

/** Whether all of the one is what the other begins with. */
async function isBeginning(one: AsyncIterable<string>, other: AsyncGenerator<string>): Promise<boolean> {
  try {
    for await (const text of one) if ((await other.next()).value !== text) return false;
    return true;
  } finally {
    await other.return(undefined);
  }
}
