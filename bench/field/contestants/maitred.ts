import { type Composed, compose } from "../../../src/compose/compose.js";
import { parseConfig } from "../../../src/compose/config.js";
import { type Owner, ownerOf } from "../../../src/domain/owner.js";
import { newId } from "../../../src/platform/ids.js";
import { silentLogger } from "../../../src/platform/logger.js";
import { openRecalls } from "../../growth/recalls.js";
import { NOW } from "../../recall/memory-rows.js";
import { questionOf, textOf } from "../../recall/memory-texts.js";
import type { Contestant, Prepared, Setting } from "../contestant.js";
import { DIMENSION, expectFound, FOUND, messageOf, roundsOf, WINDOW_ROUNDS } from "../data.js";
import { openSession, roundRecords } from "../session-of-rounds.js";

const owner = ownerOf("default", "guest-0");
const WITHOUT_MEMORY = { MEM0_ENABLED: "false", HISTORY_BACKEND: "none" };
const WRITE_BACK_MS = 60_000;

/** Maitred as it comes, on files. */
export const contestant: Contestant = {
  window: async (setting) => {
    const { maitred, sessionId } = await openWithRounds(setting, WITHOUT_MEMORY);
    return {
      keeps: "synced",
      operation: async () => {
        const { rounds } = await maitred.parts.store.journal.window(owner, sessionId, { rounds: WINDOW_ROUNDS });
        expectFound(rounds, WINDOW_ROUNDS);
      },
      close: () => maitred.close({ drainMs: 0 }),
    };
  },
  append: async (setting) => {
    const { maitred, sessionId } = await openWithRounds(setting, WITHOUT_MEMORY);
    const { journal, index } = maitred.parts.store;
    return {
      keeps: "synced",
      operation: async (n) => {
        const records = roundRecords(setting.sizes.rounds + n);
        await index.apply(owner, sessionId, await journal.append(owner, sessionId, records));
      },
      close: () => maitred.close({ drainMs: 0 }),
    };
  },
  recall: (setting) => recall(setting, setting.sizes.memories),
  recallAmongMany: (setting) => recall(setting, setting.sizes.memoriesOfAll),
  history,
  turn: (setting) => turns(setting, WITHOUT_MEMORY, 0),
  turnWithMemory: (setting) => turns(setting, {}, setting.sizes.memories),
};

function open({ dir, modelUrl }: Setting, variables: Readonly<Record<string, string>>): Promise<Composed> {
  return compose(
    parseConfig({
      MEMORY_STORAGE_DIR: dir,
      OPENAI_BASE_URL: modelUrl,
      OPENAI_API: "chat",
      EMBEDDING_PROVIDER: "hashing",
      MEMORY_EMBEDDING_DIMENSIONALITY: String(DIMENSION),
      RECALL_DEADLINE_MS: "10000",
      ...variables,
    }),
    { logger: silentLogger },
  );
}

async function openWithRounds(setting: Setting, variables: Readonly<Record<string, string>>) {
  const maitred = await open(setting, variables);
  return { maitred, sessionId: await openSession(maitred.parts.store, owner, setting.sizes.rounds) };
}

/** With all memories, however long that takes: what others leave out is to their advantage, not to ours. */
async function recall({ dir, sizes }: Setting, wanted: number): Promise<Prepared> {
  const { nearest, close } = await openRecalls(dir, { memories: wanted, each: sizes.memories });
  return {
    keeps: "synced",
    note: "as a turn does it: standing preferences and needs too",
    operation: async (n) => expectFound(await nearest(questionOf(n), FOUND)),
    close,
  };
}

async function history(setting: Setting): Promise<Prepared> {
  const maitred = await open(setting, {});
  const sessionId = newId();
  const messages = roundsOf(setting.sizes.rounds).map(({ role, content }, position) => ({
    message_id: newId(),
    session_id: sessionId,
    turn: Math.floor(position / 2) + 1,
    position,
    role,
    name: null,
    content,
    channel: "bench",
    created_at: new Date(NOW.getTime() + position * 1_000).toISOString(),
  }));
  await maitred.history.addSession(owner, sessionId, messages);
  return {
    keeps: "synced",
    note: "by meaning and by words",
    operation: async (n) => expectFound(await maitred.history.search(owner, { query: messageOf(n), limit: FOUND })),
    close: () => maitred.close({ drainMs: 0 }),
  };
}

async function turns(setting: Setting, variables: Readonly<Record<string, string>>, memories: number): Promise<Prepared> {
  const { maitred, sessionId } = await openWithRounds(setting, variables);
  if (memories > 0) await remember(maitred, owner, memories);
  const drained = async () => {
    if (!(await maitred.parts.worker.drain(WRITE_BACK_MS))) throw new Error("the write-back did not keep up");
  };
  await drained();
  return {
    keeps: "synced",
    ...(memories > 0 && { note: "the whole recall: needs, standing preferences, the nearest; with the concierge and its tools" }),
    operation: async (n) => {
      const { memory } = await maitred.chat.chat({ owner, sessionId, message: messageOf(n) });
      const expected = memories > 0 ? "ok" : "disabled";
      if (memory.status !== expected) throw new Error(`recall was ${memory.status}`);
    },
    rest: drained,
    close: () => maitred.close({ drainMs: 0 }),
  };
}

/** In bulk, as an export is taken back: the first says what one looks like. */
async function remember(maitred: Composed, whose: Owner, count: number): Promise<void> {
  const first = await maitred.memories.add(whose, { text: textOf(0), category: "other", aspect: "choice 0" }, { now: new Date() });
  const others = Array.from({ length: count - 1 }, (_, n) => ({ ...first, id: newId(), text: textOf(n + 1), aspect: `choice ${n + 1}` }));
  const restored = await maitred.parts.longTerm.restore(whose, others);
  if (restored !== count - 1) throw new Error(`${restored} memories were taken in, of ${count - 1}`);
}
