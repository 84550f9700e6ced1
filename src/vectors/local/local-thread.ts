import { parentPort, workerData } from "node:worker_threads";
import { isAppError } from "../../platform/errors.js";
import { isDamage } from "../../platform/sqlite.js";
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

const data = workerData as ThreadData;
main(data, data.tickets);
