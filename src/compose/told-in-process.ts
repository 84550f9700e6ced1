import type { EventLog } from "../ports/event-log.js";
import type { MemoryLog } from "../ports/memory-log.js";
import { openMemoryEventLog } from "../stores/sqlite-index/memory-event-log.js";
import { ToldMemoryLog } from "../stores/sqlite-index/told-memory-log.js";
import { ToldSessionWriter } from "../stores/sqlite-index/told-session-writer.js";
import type { Stores } from "./stores.js";
import type { Wiring } from "./wiring.js";

/** Events beside stores that keep none: of this process alone, and gone with it. */
export function toldInProcess({ clock, logger, closing }: Wiring): {
  readonly events: EventLog;
  memoryLog(log: MemoryLog): MemoryLog;
  writer(writer: Stores["writer"]): Stores["writer"];
} {
  const { log } = closing(openMemoryEventLog(clock), (it) => it.close());
  return {
    events: log,
    memoryLog: (memoryLog) => new ToldMemoryLog(memoryLog, log, logger),
    writer: (writer) => new ToldSessionWriter(writer, log),
  };
}
