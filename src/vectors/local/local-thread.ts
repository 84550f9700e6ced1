import { parentPort, workerData } from "node:worker_threads";
import { isAppError } from "../../platform/errors.js";
import { isDamage, openDatabase } from "../../platform/sqlite.js";
import { VectorStoreError } from "../../ports/vectors.js";
import { LocalEngine } from "./local-engine.js";
import {
  type Answer,
  type Call,
  type CallMessage,
  type LocalOptions,
  type ThreadData,
  type ThreadMessage,
  TICKET,
} from "./local-protocol.js";

/** How long what is answered waits for the calls that came with it, in milliseconds. */
const ANSWERED_WITHIN_MS = 2;

/** Answers calls in the order in which they come. */
function main(options: LocalOptions, tickets: Int32Array): void {
  const say = (message: ThreadMessage) => parentPort?.postMessage(message);
  let engine: LocalEngine;
  try {
    engine = LocalEngine.open(options);
  } catch (error) {
    say({
      type: "unopened",
      code: isAppError(error) ? error.code : "STORAGE_UNAVAILABLE",
      detail: error instanceof Error ? error.message : "The vector store's file can't be opened.",
      ...(isAppError(error) && { hint: error.hint }),
    });
    return;
  }
  const answerTo = ({ id, method, collection, args, ticket }: Call): Answer => {
    if (ticket !== null && Atomics.compareExchange(tickets, ticket, TICKET.WAITING, TICKET.STARTED) !== TICKET.WAITING)
      return { type: "given_up", id };
    try {
      if (method === "close") engine.close();
      return { type: "answer", id, result: method === "close" ? null : engine.call(method, collection, args) };
    } catch (error) {
      const known = error instanceof VectorStoreError;
      // SQLite's own messages name tables and codes, never values.
      const message = error instanceof Error ? error.message : "The call failed.";
      return { type: "refusal", id, status: known ? error.status : 500, message, damaged: isDamage(error) };
    }
  };
  parentPort?.on("message", (calls: CallMessage) => {
    let answers: Answer[] = [];
    let since = performance.now();
    const tell = () => {
      if (answers.length > 0) say({ type: "answers", answers });
      answers = [];
      since = performance.now();
    };
    for (const call of calls) {
      answers.push(answerTo(call));
      if (performance.now() - since > ANSWERED_WITHIN_MS) tell();
    }
    tell();
    if (calls.at(-1)?.method === "close") parentPort?.close();
  });
  say({ type: "ready", damaged: !engine.isSound() });
}

/** How long each step waits for whoever reads, in milliseconds: far over what one read takes. */
const READER_MS = 5_000;
/** Tries to empty the write-ahead log between the reads of others. */
const TRIES = 10;

/**
 * Rewrites a file that somebody else has open and reads meanwhile: readers see it as it was until it is done. Nobody may write.
 * No byte of what was deleted is left in it afterwards. @throws what SQLite throws, or where readers left no room for it
 */
function compactFile(path: string): void {
  const db = openDatabase(path, { fileMustExist: true, timeout: READER_MS });
  try {
    db.pragma("secure_delete = ON");
    db.pragma("synchronous = FULL");
    db.pragma("temp_store = MEMORY");
    db.exec("VACUUM");
    // The new pages are in the write-ahead log: only when they have taken the old ones' place are those gone.
    for (let tries = 0; db.pragma("wal_checkpoint(TRUNCATE)", { simple: true }) !== 0; tries++)
      if (tries >= TRIES) throw new Error("The vector store's file is read without a pause: it can't be rewritten.");
  } finally {
    db.close();
  }
}

const data = workerData as ThreadData;
if (data.task === "serve") main(data, data.tickets);
else compactFile(data.path);
