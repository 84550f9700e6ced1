import { TurnRecording } from "../after-turn/turn-recording.js";
import type { Owner } from "../domain/owner.js";
import type { JournalRecord } from "../domain/session.js";
import type { ConversationList } from "../ports/conversation-list.js";
import type { Plots } from "../ports/counters.js";
import type { SessionWriter } from "../ports/session-writer.js";
import type { TurnRecords } from "../ports/turn-records.js";
import { type ErasableStore, erasable } from "../privacy/privacy.js";
import { EngineConversationList } from "../state/conversations/conversation-list.js";
import { EnginePlots } from "../state/counters/plots.js";
import { EngineTurnRecords } from "../state/turn-records/turn-records.js";
import type { TurnRegistry } from "../turn/turn-registry.js";
import { type Stores, upkeepGate, type Wiring } from "./wiring.js";

/** What is kept for whoever runs the server: how turns went, all conversations by their activity, sums by the hour. */
export interface Recording {
  readonly records: TurnRecords;
  readonly turns: TurnRecording;
  readonly conversations: ConversationList;
  readonly plots: Plots;
  /** What of it an erasure takes. */
  readonly erasable: readonly ErasableStore[];
}

export function composeRecording({ clock, logger, closing }: Wiring, opened: Stores, registry: TurnRegistry): Recording {
  const { engine, store } = opened;
  const records = new EngineTurnRecords(engine);
  const plots = closing(new EnginePlots(engine, clock), (it) => it.close().catch(() => undefined));
  const { begin } = upkeepGate(registry);
  const conversations = closing(
    new EngineConversationList({
      engine,
      session: (owner, id) => store.index.listed(owner, id),
      begin,
      logger,
    }),
    (it) => it.close(),
  );
  const turns = closing(new TurnRecording({ records, conversations, plots, begin, clock, logger }), (it) => it.settled());
  const stores = [erasable("turn_records", "turn_records", records), erasable("conversation_list", "listed_conversations", conversations)];
  return { records, turns, conversations, plots, erasable: stores };
}

/** A writer of sessions that tells the list of all conversations of what it writes. */
export function toldTo(list: Pick<ConversationList, "touched">, writer: SessionWriter): SessionWriter {
  const told = async (owner: Owner, id: string, write: Promise<readonly JournalRecord[]>) => {
    const written = await write;
    list.touched(owner, id, { turn: written.reduce((last, { turn }) => Math.max(last, turn), 0) });
    return written;
  };
  return {
    create: (owner, id, ...rest) => told(owner, id, writer.create(owner, id, ...rest)),
    append: (owner, id, ...rest) => told(owner, id, writer.append(owner, id, ...rest)),
  };
}
