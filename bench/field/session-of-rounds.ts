import type { Owner } from "../../src/domain/owner.js";
import type { NewRecord } from "../../src/domain/session.js";
import { newId } from "../../src/platform/ids.js";
import type { SessionStore } from "../../src/ports/session-store.js";
import { roundOf, type Said } from "./data.js";

const ROUNDS_PER_APPEND = 1_000;

/** A session of Maitred's that has this many rounds, with nothing left to be written back; returns its id. */
export async function openSession(
  { journal, index }: Pick<SessionStore, "journal" | "index">,
  owner: Owner,
  rounds: number,
): Promise<string> {
  const id = newId();
  const session: NewRecord = { type: "session", id: newId(), turn: 0, at: now(), body: { owner } };
  await index.apply(owner, id, await journal.create(owner, id, [session]));
  for (let from = 0; from < rounds; from += ROUNDS_PER_APPEND) {
    const count = Math.min(ROUNDS_PER_APPEND, rounds - from);
    const records = Array.from({ length: count }, (_, n) => roundRecords(from + n)).flat();
    await index.apply(owner, id, await journal.append(owner, id, records));
  }
  return id;
}

/** What a turn appends, with nothing left to be written back: the worker would take it up beside what is measured. */
export function roundRecords(n: number): NewRecord[] {
  const turn = n + 1;
  const body = { status: "skipped" as const, memory_ids: [], attempts: 1 };
  const done: NewRecord = { type: "write_back_done", id: newId(), turn, at: now(), body };
  return [...roundOf(n).map(messageRecord(turn)), done];
}

function messageRecord(turn: number): (said: Said) => NewRecord {
  return ({ role, content }) => ({ type: "message", id: newId(), turn, at: now(), body: { role, content } });
}

function now(): string {
  return new Date().toISOString();
}
