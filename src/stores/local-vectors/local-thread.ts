import { parentPort, workerData } from "node:worker_threads";
import { isAppError } from "../../platform/errors.js";
import { isDamage } from "../../platform/sqlite.js";
import { VectorStoreError } from "../../ports/vectors.js";
import { compactFile } from "./compact-file.js";
import { LocalEngine } from "./local-engine.js";
import { type CallMessage, type LocalOptions, type ThreadData, type ThreadMessage, TICKET } from "./local-protocol.js";

/** Answers calls in the order in which they come. */
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
      ...(isAppError(error) && { hint: error.hint }),
    });
    return;
  }
  parentPort?.on("message", ({ id, method, collection, args, ticket }: CallMessage) => {
    if (ticket !== null && Atomics.compareExchange(ticket, 0, TICKET.WAITING, TICKET.STARTED) !== TICKET.WAITING) return;
    try {
      if (method === "close") engine.close();
      say({ type: "answer", id, result: method === "close" ? null : engine.call(method, collection, args) });
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

const { task, ...options } = workerData as ThreadData;
if (task === "serve") main(options);
else compactFile(options.path);
