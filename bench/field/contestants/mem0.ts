import { join } from "node:path";
import OpenAI from "openai";
import { loadMem0 } from "../../../src/vectors/mem0/mem0-client.js";
import { questionOf } from "../../recall/memory-texts.js";
import type { Contestant, Prepared, Setting } from "../contestant.js";
import { embed, expectFound, FOUND, INSTRUCTIONS, leftOut, loadMemories, messageOf } from "../data.js";

/** Mem0 on the vector store that it brings along, a file of SQLite; it keeps no conversation of its own. */
export const contestant: Contestant = {
  recall: (setting) => recall(setting, setting.sizes.memories),
  recallAmongMany: (setting) => recall(setting, setting.sizes.memoriesOfAll),
  turnWithMemory: turns,
};

interface VectorStore {
  insert(vectors: number[][], ids: string[], payloads: Record<string, unknown>[]): Promise<void>;
}

async function open({ dir, modelUrl }: Setting) {
  const { Memory } = await loadMem0(join(dir, "mem0"));
  return new Memory({
    historyDbPath: join(dir, "history.db"),
    embedder: {
      provider: "langchain",
      config: { model: { embedQuery: embed, embedDocuments: (texts: string[]) => Promise.all(texts.map(embed)) } },
    },
    llm: { provider: "openai", config: { apiKey: "none", baseURL: modelUrl, model: "stub" } },
    vectorStore: { provider: "memory", config: { collectionName: "memory", dimension: 384, dbPath: join(dir, "vectors.db") } },
  });
}

type Memory = Awaited<ReturnType<typeof open>>;

/** As its searches need them, past the model that would have read them out of messages. */
async function fill(memory: Memory, { sizes, loadMs }: Setting, wanted: number): Promise<number> {
  await memory.search("anything", { filters: { user_id: "nobody" }, topK: 1 });
  const { vectorStore } = memory as unknown as { vectorStore: VectorStore };
  const now = new Date().toISOString();
  return loadMemories({ to: wanted, each: sizes.memories, loadMs }, async (memories) => {
    const payloads = memories.map(({ user, text }) => ({ data: text, user_id: user, hash: text, textLemmatized: text, createdAt: now }));
    const vectors = await Promise.all(memories.map(({ text }) => embed(text)));
    await vectorStore.insert(
      vectors,
      memories.map(({ n }) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`),
      payloads,
    );
  });
}

async function search(memory: Memory, question: string) {
  return (await memory.search(question, { filters: { user_id: "guest-0" }, topK: FOUND, threshold: 0 })).results;
}

async function recall(setting: Setting, wanted: number): Promise<Prepared> {
  const memory = await open(setting);
  const loaded = await fill(memory, setting, wanted);
  return {
    keeps: "synced",
    ...leftOut(loaded, wanted),
    operation: async (n) => expectFound(await search(memory, questionOf(n))),
    close: async () => undefined,
  };
}

/** Its quick start: search, ask the model, add what was said. */
async function turns(setting: Setting): Promise<Prepared> {
  const memory = await open(setting);
  await fill(memory, setting, setting.sizes.memories);
  const model = new OpenAI({ apiKey: "none", baseURL: setting.modelUrl });
  let messages: { role: "user" | "assistant"; content: string }[] = [];
  return {
    keeps: "synced",
    note: "no window, as it keeps no conversation; adding what was said to its memories is awaited, as its documentation shows",
    operation: async (n) => {
      const message = messageOf(n);
      const known = (await search(memory, message)).map((each) => `- ${each.memory}`).join("\n");
      const system = `${INSTRUCTIONS}\nUser memories:\n${known}`;
      const answer = await model.chat.completions.create({
        model: "stub",
        messages: [
          { role: "system", content: system },
          { role: "user", content: message },
        ],
      });
      messages = [
        { role: "user", content: message },
        { role: "assistant", content: answer.choices[0]?.message.content ?? "" },
      ];
    },
    restIsOfTheTurn: true,
    rest: async () => expectFound((await memory.add(messages, { userId: "guest-0" })).results, 1),
    close: async () => undefined,
  };
}
