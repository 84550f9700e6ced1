import { parentPort, workerData } from "node:worker_threads";
import { isAppError } from "../errors.js";
import { isDamage } from "../platform/sqlite.js";
import { VectorStoreError } from "../vectors.js";
import { LocalEngine } from "./local-engine.js";
import { type CallMessage, type LocalOptions, type ThreadMessage, TICKET } from "./local-protocol.js";

/** The entry of LocalQdrant's thread: calls in the order in which they come. */
function main(options: LocalOptions): void {
  const say = (message: ThreadMessage) => parentPort?.postMessage(message);
  let engine: LocalEngine;
  try {
    engine = LocalEngine.open(options);
  } catch (error) {
    say({
      type: "unopened",
      code: isAppError(error) ? error.code : "STORAGE_UNAVAILABLE",
      detail: error instanceof Error ? error.message : "The vector store's file can't be opened.",
    });
    return;
  }
  parentPort?.on("message", ({ id, method, collection, args, ticket }: CallMessage) => {
    if (ticket !== null && Atomics.compareExchange(ticket, 0, TICKET.WAITING, TICKET.STARTED) !== TICKET.WAITING) return;
    try {
      if (method === "close") engine.close();
      else if (method === "scrub") engine.scrub();
      say({ type: "answer", id, result: method === "close" || method === "scrub" ? null : engine.call(method, collection, args) });
      if (method === "close") parentPort?.close();
    } catch (error) {
      const known = error instanceof VectorStoreError;
      // SQLite's own messages name tables and codes, never values.
      const message = error instanceof Error ? error.message : "The call failed.";
      say({ type: "refusal", id, status: known ? error.status : 500, message, damaged: isDamage(error) });
    }
  });
  say({ type: "ready", damaged: !engine.isSound() });
}

main(workerData as LocalOptions);
