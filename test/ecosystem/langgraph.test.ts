import { afterEach, beforeEach, expect, test } from "vitest";
import { createMaitred, type Maitred } from "../../src/index.js";
import { memoryStore } from "../../src/langchain.js";
import { loadFromEcosystem } from "../support/ecosystem.js";
import { needing } from "../support/needing.js";

interface Item {
  readonly key: string;
  readonly namespace: string[];
  readonly value: Record<string, unknown>;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly score?: number;
}
/** As `@langchain/langgraph-checkpoint` declares it. */
interface Store {
  get(namespace: string[], key: string): Promise<Item | null>;
  put(namespace: string[], key: string, value: object, index?: false | string[]): Promise<void>;
  delete(namespace: string[], key: string): Promise<void>;
  search(prefix: string[], options?: object): Promise<Item[]>;
  listNamespaces(options?: object): Promise<string[][]>;
  batch(operations: object[]): Promise<unknown[]>;
}
interface Message {
  readonly content: string;
  readonly tool_calls?: readonly { readonly name: string; readonly args: { readonly fact: string } }[];
}
interface Runtime {
  readonly store: Store;
  readonly configurable: { readonly user: string };
}
interface Graph {
  addNode(name: string, node: (state: { messages: Message[] }, runtime: Runtime) => Promise<object>): Graph;
  addEdge(from: string, to: string): Graph;
  compile(options: object): { invoke(input: object, config: object): Promise<{ messages: Message[] }> };
}
interface LangGraphModule {
  readonly BaseStore: abstract new () => Store;
  readonly StateGraph: new (state: unknown) => Graph;
  readonly MessagesAnnotation: unknown;
  readonly MemorySaver: new () => object;
  readonly START: string;
  readonly END: string;
}

needing("ecosystem")("LangGraph with a store over memories", () => {
  let maitred: Maitred;
  let langgraph: LangGraphModule;
  let store: Store;
  const ada = ["memories", "ada"];
  beforeEach(async () => {
    langgraph = (await loadFromEcosystem("@langchain/langgraph")) as LangGraphModule;
    maitred = await createMaitred({ shortTermBackend: "memory", embeddingProvider: "hashing" });
    store = memoryStore(langgraph, { maitred });
  });
  afterEach(() => maitred.close());

  test("a graph that is run twice knows in another thread what it was told in the first", async () => {
    const { StateGraph, MessagesAnnotation, MemorySaver, START, END } = langgraph;
    const { AIMessage } = (await loadFromEcosystem("@langchain/core/messages")) as { AIMessage: new (fields: object) => Message };
    const prompts: string[] = [];
    /** A model that saves what it is told to, and else repeats what its prompt says of the user. */
    const model = async (prompt: string, message: string) => {
      prompts.push(prompt);
      if (!message.startsWith("Remember: ")) return new AIMessage({ content: prompt });
      return new AIMessage({ content: "Saved.", tool_calls: [{ id: "1", name: "save", args: { fact: message.slice(10) } }] });
    };
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("agent", async ({ messages }, runtime) => {
        expect(runtime.store).toBeDefined();
        const message = messages.at(-1)?.content ?? "";
        const namespace = ["memories", runtime.configurable.user];
        const known = await runtime.store.search(namespace, { query: message, limit: 5 });
        const answer = await model(known.map(({ value }) => `- ${value.text}`).join("\n"), message);
        for (const { args } of answer.tool_calls ?? []) await runtime.store.put(namespace, crypto.randomUUID(), { text: args.fact });
        return { messages: [new AIMessage({ content: answer.content })] };
      })
      .addEdge(START, "agent")
      .addEdge("agent", END)
      .compile({ checkpointer: new MemorySaver(), store });
    const says = async (thread: string, user: string, content: string) => {
      const config = { configurable: { thread_id: thread, user } };
      return (await graph.invoke({ messages: [{ role: "user", content }] }, config)).messages.at(-1)?.content;
    };
    expect(await says("one", "ada", "Remember: Prefers a table by the window")).toBe("Saved.");
    expect(await says("two", "ada", "Which table do I like?")).toBe("- Prefers a table by the window");
    expect(await says("three", "ben", "Which table do I like?")).toBe("");
    expect(prompts).toEqual(["", "- Prefers a table by the window", ""]);
    const { data } = await maitred.for({ user: "ada" }).memories.list();
    expect(data.map(({ text }) => text)).toEqual(["Prefers a table by the window"]);
  });

  test("what Maitred has learnt in a conversation is found, read and deleted like what was put", async () => {
    const user = maitred.for({ user: "ada" });
    const { session_id: session } = await user.chat("I'm allergic to nuts.");
    await user.sessions.flush(session, { timeoutMs: 20_000 });
    const [found] = await store.search(ada, { query: "nuts" });
    expect(found).toMatchObject({ namespace: ada, value: { strength: "hard" }, score: expect.any(Number) });
    expect(String(found?.value.text)).toContain("nuts");
    expect(await store.get(ada, found?.key ?? "")).toMatchObject({ key: found?.key, value: found?.value });
    await store.delete(ada, found?.key ?? "");
    expect(await store.search(ada, { query: "nuts" })).toEqual([]);
  });

  test("put, get, put again and delete are one item's, with its times", async () => {
    await store.put(ada, "seat", { text: "Sits in row F", category: "seating", tags: ["theatre"] });
    const first = await store.get(ada, "seat");
    expect(first).toMatchObject({ key: "seat", namespace: ada, value: { text: "Sits in row F", category: "seating", tags: ["theatre"] } });
    expect(first?.createdAt).toBeInstanceOf(Date);
    await store.put(ada, "seat", { text: "Sits in row G", category: "seating" });
    expect((await store.get(ada, "seat"))?.value).toEqual({
      text: "Sits in row G",
      category: "seating",
      type: "preference",
      strength: "soft",
      subject: "self",
      scope: "standing",
    });
    expect(await store.search(ada)).toHaveLength(1);
    await Promise.all(["Likes opera", "Likes operas by Verdi"].map((text) => store.put(ada, "music", { text })));
    expect(await store.search(ada)).toHaveLength(2);
    for (const key of ["seat", "music", "never put"]) await store.delete(ada, key);
    expect(await store.search(ada)).toEqual([]);
    expect(await store.get(ada, "seat")).toBeNull();
  });

  test("namespaces below the user's hold their own, and a search over the user's finds all", async () => {
    await store.put([...ada, "food"], "a", { text: "Likes artichokes", category: "genre" });
    await store.put([...ada, "food", "wine"], "a", { text: "Likes dry wine", category: "genre" });
    await store.put(ada, "a", { text: "Arrives by train" });
    await store.put(["memories", "ben"], "a", { text: "Arrives by car" });
    const texts = async (prefix: string[], options: object = {}) =>
      (await store.search(prefix, options)).map(({ value }) => String(value.text)).sort();
    expect(await texts(ada)).toEqual(["Arrives by train", "Likes artichokes", "Likes dry wine"]);
    expect(await texts([...ada, "food"])).toEqual(["Likes artichokes", "Likes dry wine"]);
    expect(await texts([...ada, "food", "wine"], { query: "artichokes" })).toEqual(["Likes dry wine"]);
    expect(await texts(ada, { filter: { category: "genre" }, limit: 1, offset: 1 })).toHaveLength(1);
    expect(await texts(ada, { filter: { category: { $ne: "genre" } } })).toEqual(["Arrives by train"]);
    expect((await store.get([...ada, "food"], "a"))?.value.text).toBe("Likes artichokes");
    expect(await store.listNamespaces({ prefix: ada })).toEqual([ada, [...ada, "food"], [...ada, "food", "wine"]].sort(byJson));
    expect(await store.listNamespaces({ prefix: ada, suffix: ["wine"] })).toEqual([[...ada, "food", "wine"]]);
    expect(await store.listNamespaces({ prefix: ada, maxDepth: 2 })).toEqual([ada]);
    const read = await store.batch([
      { namespace: ada, key: "a" },
      { namespace: ada, key: "a", value: null },
      { namespacePrefix: ada, limit: 9 },
    ]);
    expect(read).toMatchObject([{ key: "a" }, undefined, { length: 3 }]);
    expect(await texts(ada)).toEqual(["Likes artichokes", "Likes dry wine"]);
  });

  test("a statement that is known already is one memory, by its own key too", async () => {
    await maitred.for({ user: "ada" }).memories.add("Likes jazz", { category: "genre" });
    await store.put(ada, "music", { text: "Likes jazz", category: "genre" });
    expect((await store.get(ada, "music"))?.value.text).toBe("Likes jazz");
    expect((await maitred.for({ user: "ada" }).memories.list()).data).toHaveLength(1);
  });

  test.each([
    ["no sentence", ada, "k", { food: "pizza" }, "/value/text"],
    ["a field that a memory has no place for", ada, "k", { text: "Likes pizza", rating: 5 }, "/value/rating"],
    ["a misspelt field", ada, "k", { text: "Likes pizza", catgory: "genre" }, "/value/catgory"],
    ["another user's root", ["notes", "ada"], "k", { text: "Likes pizza" }, "/namespace"],
    ["no user", ["memories"], "k", { text: "Likes pizza" }, "/namespace"],
    ["too long a key", ada, "k".repeat(60), { text: "Likes pizza" }, "/key"],
  ])("%s is refused, naming what is wrong", async (_name, namespace, key, value, pointer) => {
    await expect(store.put(namespace as string[], key as string, value as object)).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      errors: expect.arrayContaining([expect.objectContaining({ pointer })]),
    });
  });

  test("a search over all users, and a filter that is none, are refused; a secret is not kept", async () => {
    for (const prefix of [[], ["memories"]]) await expect(store.search(prefix)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    await expect(store.listNamespaces()).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    await expect(store.search(ada, { filter: { category: { $near: "x" } } })).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    await expect(store.put(ada, "k", { text: "The password is hunter2hunter2" })).rejects.toMatchObject({ code: "MEMORY_REFUSED" });
  });

  test("[owner-isolation] a function of one's own says whose a namespace is", async () => {
    const user = (id: string) => maitred.for({ user: id, tenant: "acme" });
    const ofAcme = memoryStore(langgraph, { maitred, namespace: ["{user}", "facts"], user });
    await ofAcme.put(["ada", "facts"], "a", { text: "Likes opera" });
    expect((await user("ada").memories.list()).data.map(({ text }) => text)).toEqual(["Likes opera"]);
    expect(await store.search(ada)).toEqual([]);
    const nobodys = memoryStore(langgraph, { maitred, user: () => "ada" as never });
    await expect(nobodys.search(ada)).rejects.toMatchObject({ code: "INVALID_REQUEST", errors: [{ pointer: "/user" }] });
  });

  test("keys that graphs make are taken, whatever they are", async () => {
    for (let n = 0; n < 20; n++) {
      const key = crypto.randomUUID();
      await store.put(ada, key, { text: `Owns house number ${n} of the street`, category: "other" });
      expect(await store.get(ada, key)).toMatchObject({ key });
    }
  });
});

function byJson(a: readonly string[], b: readonly string[]): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}
