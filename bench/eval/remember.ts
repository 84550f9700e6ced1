import { CONCIERGE_CATEGORIES } from "../../packages/concierge/src/categories.js";
import { CONCIERGE_NEEDS } from "../../packages/concierge/src/needs.js";
import { CONCIERGE_WORDS } from "../../packages/concierge/src/words.js";
import type { Memory } from "../../src/domain/memory.js";
import { type MemoryRecord, memoryOf } from "../../src/domain/memory-record.js";
import { ownerOf } from "../../src/domain/owner.js";
import { needTalkOf } from "../../src/languages/need-talk.js";
import { Coverage } from "../../src/memories/coverage.js";
import { changesOf } from "../../src/memories/proposed-change.js";
import { readMessage } from "../../src/memories/read-message.js";
import { reconcile } from "../../src/memories/reconcile.js";
import type { Conversation } from "../../src/operations/evaluation-set.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { Embedder } from "../../src/ports/embedding.js";
import type { MessageReader, MessageToRead } from "../../src/ports/extraction.js";
import type { Script } from "./scripted-readers.js";

const coverage = new Coverage(CONCIERGE_NEEDS, needTalkOf(CONCIERGE_WORDS.needs));
const owner = ownerOf("default", "guest");
const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 2, 11, 10);

/** A conversation, message after message through reader, checks and reconciling: what is remembered in the end. */
export async function rememberedOf(
  conversation: Conversation,
  readerOf: (script: Script) => MessageReader,
  embedder?: Embedder,
): Promise<readonly Memory[]> {
  const turnOf = (message: MessageToRead) => message.turn - 1;
  const read = readMessage(readerOf({ conversation, turnOf }), {
    categories: CONCIERGE_CATEGORIES,
    needs: CONCIERGE_NEEDS,
    ...(embedder !== undefined && { embedder }),
    coverage,
    logger: silentLogger,
  });
  let records: readonly MemoryRecord[] = [];
  for (const [turn, text] of conversation.messages.entries()) {
    const now = new Date(START + turn * DAY_MS);
    const message: MessageToRead = {
      owner,
      session_id: "s",
      turn: turn + 1,
      message_id: `m${turn}`,
      text,
      stated_at: now,
      time_zone: "Europe/Berlin",
      context: conversation.messages.slice(0, turn).map((content) => ({ role: "user" as const, content })),
      known: records.filter(({ status }) => status === "active" || status === "review").map(memoryOf),
    };
    const checked = await read(message, AbortSignal.timeout(60_000));
    // As the write-back does it: what the message before gave is taken out.
    if (checked.off_record === "previous") records = records.filter(({ source }) => source?.turn !== turn);
    const changes = reconcile(records, changesOf(owner, { ...message, channel: "api" }, checked.operations), {
      now,
      minConfidence: 0.6,
      tombstones: [],
      hash: (said) => said,
      categories: CONCIERGE_CATEGORIES,
      slotOf: (need) => CONCIERGE_NEEDS.find(({ name }) => name === need)?.slot,
    });
    const after = new Map([...records, ...changes.puts].map((record) => [record.id, record]));
    for (const id of changes.forgotten) after.delete(id);
    records = [...after.values()];
  }
  return records.map(memoryOf);
}
