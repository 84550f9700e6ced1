import { isDeepStrictEqual } from "node:util";
import type { JournalRecord } from "../../src/domain/session.js";
import type { ChatAnswer } from "../../src/ports/resources.js";
import type { SeenAtEnd, SeenAtStart } from "./job.js";
import type { JournalOnDisk } from "./journals-on-disk.js";
import { EDITED, likesText, rowText, STEPS_PER_BLOCK, type Step, stepOf } from "./script.js";

/** What is wrong, in the words of the promise that it breaks. Each check gives all that it finds; nothing found is an empty list. */

export interface Told {
  /** Every answer that a client was given, by user and step. */
  readonly answers: readonly { readonly user: string; readonly position: number; readonly answer: ChatAnswer }[];
  /** How many steps of its script each user was told the end of. */
  readonly positions: ReadonlyMap<string, number>;
  readonly sessions: ReadonlyMap<string, ReadonlyMap<number, string>>;
  /** Memories and sessions that somebody asked to be taken away, whether that ended or not. */
  readonly taken: ReadonlySet<string>;
}

/** After every kill, on the files as they lie there: every answered turn once, no key twice, every line readable and in its order. */
export function checkJournals(journals: readonly JournalOnDisk[], told: Told): string[] {
  const found: string[] = [];
  const keys = new Map<string, number>();
  const answered = new Map<string, string[]>();
  for (const { sessionId, records, unreadable } of journals) {
    if (unreadable > 0) found.push(`unreadable: ${unreadable} lines of ${sessionId}`);
    const seqs = records.map(({ seq }) => seq);
    if (seqs.some((seq, index) => index > 0 && seq <= (seqs[index - 1] ?? 0))) found.push(`order: ${sessionId}`);
    const once = new Map<string, number>();
    const count = (what: string) => once.set(what, (once.get(what) ?? 0) + 1);
    // A turn that ended without an answer is written back, and again when it is answered after all.
    const endings = new Map<number, number>();
    for (const record of records) {
      const { turn } = record;
      if (record.type === "write_back_done") count(`done twice: turn ${turn} of ${sessionId}, ended ${endings.get(turn) ?? 1} times`);
      if (record.type !== "message") continue;
      const { role, idempotency, outcome, content } = record.body;
      if (idempotency !== undefined) keys.set(idempotency.key, (keys.get(idempotency.key) ?? 0) + 1);
      if (role === "assistant") endings.set(turn, (endings.get(turn) ?? 0) + 1);
      if (role !== "assistant" || outcome !== "completed") continue;
      count(`answered twice: turn ${turn} of ${sessionId}`);
      answered.set(record.id, [...(answered.get(record.id) ?? []), content]);
    }
    for (const [what, times] of once) if (times > 1) found.push(what);
  }
  for (const [key, times] of keys) if (times > 1) found.push(`key twice: ${key} ${times} times`);
  for (const { user, position, answer } of told.answers) {
    if (told.taken.has(answer.session_id)) continue;
    if (!isDeepStrictEqual(answered.get(answer.message.id), [answer.message.content]))
      found.push(`answered turn lost: ${user}-${position}`);
  }
  return found;
}

/** After every start: every journal opened, what the journals say is stored is there, and no memory is there twice. */
export function checkStart({ journals: opened, memories }: SeenAtStart, journals: readonly JournalOnDisk[], told: Told): string[] {
  const found = opened.flatMap(({ sessionId, damagedLines }) => (damagedLines > 0 ? [`damaged: ${sessionId}`] : []));
  const ids = new Set(opened.map(({ sessionId }) => sessionId));
  const there = new Set(memories.map(({ id }) => id));
  for (const { sessionId, user, records, standing } of journals) {
    if (!told.positions.has(user)) continue;
    if (records.length > 0 && !ids.has(sessionId)) found.push(`not opened: ${sessionId}`);
    if (told.taken.has(sessionId)) continue;
    const turns = turnsOf(standing);
    for (const record of records) {
      if (record.type !== "write_back_done" || record.body.status !== "stored" || !turns.has(record.turn)) continue;
      for (const id of record.body.memory_ids)
        if (!there.has(id) && !told.taken.has(id)) found.push(`false success: turn ${record.turn} of ${sessionId}`);
    }
  }
  const texts = new Map<string, number>();
  for (const { user, text } of memories) texts.set(`${user}: ${text}`, (texts.get(`${user}: ${text}`) ?? 0) + 1);
  for (const [text, times] of texts) if (times > 1) found.push(`memory twice: ${text}`);
  return found;
}

/** When everything has come to its end: exactly what was said is remembered, and can be found. */
export function checkEnd(seen: SeenAtEnd, journals: readonly JournalOnDisk[], told: Told): string[] {
  const found: string[] = [];
  if (seen.pending.pending + seen.pending.failed > 0) found.push(`not written back: ${JSON.stringify(seen.pending)}`);
  const said = new Map<string, number>();
  for (const [user, position] of told.positions) {
    found.push(...checkMemories(user, position, seen));
    for (const step of standingSteps(user, position)) {
      const session = told.sessions.get(user)?.get(step.block) ?? "";
      said.set(session, (said.get(session) ?? 0) + (isEmptied(user, step.block, position) ? 0 : 1));
    }
  }
  for (const [session, turns] of said) {
    const journal = journals.find(({ sessionId }) => sessionId === session);
    if (journal === undefined) found.push(`no journal: ${session}`);
    else found.push(...checkSession(journal, turns, seen));
  }
  for (const { user, position, answer } of seen.replays) {
    const told_ = told.answers.find((given) => given.user === user && given.position === position);
    if (!isDeepStrictEqual(answer, told_?.answer)) found.push(`another answer: ${user}-${position}`);
  }
  return found;
}

function checkSession({ sessionId: session, records, standing }: JournalOnDisk, turns: number, seen: SeenAtEnd): string[] {
  const found: string[] = [];
  // What a write-back notes of an earlier turn can lie among what an edit takes back, and counts all the same.
  const said = turnsOf(standing);
  const done = new Set(records.flatMap(({ type, turn }) => (type === "write_back_done" && said.has(turn) ? [turn] : []))).size;
  if (done !== turns) found.push(`write-back: ${session} has ${done} turns done of ${turns}`);
  const listed = seen.sessions.find(({ id }) => id === session)?.messages;
  if (listed !== 2 * turns) found.push(`session list: ${session} has ${listed} messages of ${2 * turns}`);
  // One summary at most: one that was journalled, but not added to history before the kill, is left to the next.
  const summaries = new Set(standing.flatMap((record) => (record.type === "summary" ? [record.id] : [])));
  const inSession = seen.history.flatMap(({ sessionId, messageId }) => (sessionId === session ? [messageId] : []));
  const summed = inSession.filter((id) => summaries.has(id)).length;
  if (summed > 1) found.push(`history: ${session} has ${summed} summaries`);
  const inHistory = inSession.filter((id) => !summaries.has(id));
  const messages = standing.flatMap((record) => (record.type === "message" ? [record.id] : []));
  if (!isDeepStrictEqual(inHistory.sort(), messages.sort()) || messages.length !== 2 * turns)
    found.push(`history: ${session} has ${inHistory.length} messages of ${2 * turns}`);
  return found;
}

function turnsOf(records: readonly JournalRecord[]): ReadonlySet<number> {
  return new Set(records.flatMap(({ type, turn }) => (type === "message" ? [turn] : [])));
}

function checkMemories(user: string, position: number, seen: SeenAtEnd): string[] {
  const found: string[] = [];
  const says = standingSteps(user, position);
  const forgotten = new Set(stepsBefore(user, position).flatMap((step) => (step.kind === "forget" ? [step.band] : [])));
  const expected = new Map<string, { status: string; seenCount: number }>();
  for (const band of says.flatMap((step) => step.bands)) {
    if (forgotten.has(band)) continue;
    const text = likesText(band);
    expected.set(text, { status: "active", seenCount: (expected.get(text)?.seenCount ?? 0) + 1 });
  }
  const rows = says.flatMap(({ row }) => row ?? []);
  for (const row of rows) expected.set(rowText(row), { status: row === rows.at(-1) ? "active" : "superseded", seenCount: 1 });
  const own = seen.memories.filter((memory) => memory.user === user && memory.type !== "narrative");
  for (const [text, { status, seenCount }] of expected) {
    const memory = own.find((each) => each.text === text);
    if (memory === undefined) found.push(`memory missing: ${user}: ${text}`);
    else if (memory.status !== status || memory.seenCount !== seenCount)
      found.push(`memory changed: ${user}: ${text} is ${memory.status}, seen ${memory.seenCount} times of ${seenCount}`);
  }
  for (const { text } of own) if (!expected.has(text)) found.push(`memory that should not be: ${user}: ${text}`);
  // The story of the relationship is told at most once, and of nothing that was forgotten, said differently or never said.
  const stories = seen.memories.filter((memory) => memory.user === user && memory.type === "narrative");
  if (stories.length > 1) found.push(`narrative twice: ${user}`);
  const active = new Set([...expected].flatMap(([text, { status }]) => (status === "active" ? [`${text}.`] : [])));
  for (const { text } of stories)
    for (const sentence of text.match(/[^.]+\./g) ?? [])
      if (!active.has(sentence.trim())) found.push(`narrative that tells what is no memory: ${user}: ${sentence}`);
  return found;
}

function stepsBefore(user: string, position: number): Step[] {
  return Array.from({ length: position }, (_, index) => stepOf(user, index));
}

/** What was said and not said again differently. */
function standingSteps(user: string, position: number): (Step & { kind: "say" })[] {
  return stepsBefore(user, position).flatMap((step, index) => {
    const replaced = index % STEPS_PER_BLOCK === EDITED && index + 1 < position;
    return step.kind === "say" && !replaced ? [step] : [];
  });
}

function isEmptied(user: string, block: number, position: number): boolean {
  return stepsBefore(user, position).some((step) => step.kind === "empty" && step.block === block);
}
