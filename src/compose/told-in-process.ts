import type { EventLog } from "../ports/event-log.js";
import type { EventQueue } from "../ports/event-queue.js";
import type { MemoryLog } from "../ports/memory-log.js";
import { openMemoryEventLog } from "../stores/sqlite-index/memory-event-log.js";
import { ToldMemoryLog } from "../stores/sqlite-index/told-memory-log.js";
import { ToldSessionWriter } from "../stores/sqlite-index/told-session-writer.js";
import type { Stores } from "./stores.js";
import type { Wiring } from "./wiring.js";

/** Events beside stores that keep none: of this process alone, and gone with it. */
export function toldInProcess({ config, clock, logger, closing }: Wiring): {
  readonly events: EventLog;
  readonly eventQueue: EventQueue;
  memoryLog(log: MemoryLog): MemoryLog;
  writer(writer: Stores["writer"]): Stores["writer"];
} {
  const { log } = closing(openMemoryEventLog(clock), (it) => it.close());
  if (config.WEBHOOK_URL !== undefined) {
    log.keepQueue();
    logger.warn(
      {},
      "This store keeps no events: a webhook is told of what this process does, and not of what it had to tell when it ended",
    );
  }
  return {
    events: log,
    eventQueue: log.queue,
    memoryLog: (memoryLog) => new ToldMemoryLog(memoryLog, log, logger),
    writer: (writer) => new ToldSessionWriter(writer, log),
  };
}
