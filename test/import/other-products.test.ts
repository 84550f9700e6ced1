import { describe, expect, test } from "vitest";
import { readOtherProduct } from "../../src/import/other-products.js";
import { startWorld, tempDir } from "../e2e/world.js";

const NOW = new Date("2026-05-01T12:00:00.000Z");

/** As Chainlit's data layers keep them; fields that nobody here knows are there too. */
const step = (id: string, threadId: string, type: string, output: string, createdAt: string) => ({
  ...{ id, threadId, type, output, createdAt, start: createdAt, end: createdAt, name: "desk", parentId: null, streaming: false },
  ...{ isError: false, input: "", metadata: {}, generation: null, tags: null },
});
const STEPS = [
  step("s2", "t1", "assistant_message", "Two seats are left.", "2026-01-05T10:00:02.000Z"),
  step("s1", "t1", "user_message", "Any seats for the quartet?", "2026-01-05T10:00:00.000Z"),
  step("s3", "t1", "tool", '{"found":2}', "2026-01-05T10:00:01.000Z"),
  step("s5", "t1", "run", "", "2026-01-05T10:00:01.000Z"),
  step("s4", "t2", "user_message", "Hello", "2026-01-06T10:00:00.000Z"),
];
const THREADS = [
  { id: "t1", name: "Quartet", createdAt: "2026-01-05T10:00:00.000Z", userIdentifier: "ada", tags: [] },
  { id: "t2", name: null, createdAt: "2026-01-06T10:00:00.000Z", userIdentifier: "ada" },
];
const element = (id: string, type: string) => ({ id, threadId: "t1", type, name: "plan", url: "https://files.example/plan", forId: "s2" });
const ELEMENTS = [element("e1", "file"), element("e2", "image")];
const inThreads = THREADS.map((thread) => ({
  ...thread,
  steps: STEPS.filter(({ threadId }) => threadId === thread.id),
  elements: ELEMENTS.filter(({ threadId }) => threadId === thread.id),
}));

const seconds = Date.parse("2026-01-05T10:00:00.000Z") / 1_000;
const messages = {
  m2: {
    role: "model",
    content: "Two seats are left.",
    timestamp: { __datatype__: "timestamp", value: { _seconds: seconds + 2, _nanoseconds: 0 } },
  },
  m1: {
    role: "user",
    content: "Any seats for the quartet?",
    timestamp: { __datatype__: "timestamp", value: { _seconds: seconds, _nanoseconds: 0 } },
  },
};
const greeting = { g1: { role: "user", text: "Hello", created_at: "2026-01-06T10:00:00.000Z" } };
const exported = {
  __collections__: {
    chat_sessions: {
      t1: { title: "Quartet", user_id: "ada", __collections__: { messages } },
      t2: { user_id: "ada", __collections__: { messages: greeting } },
    },
  },
};
const nested = { chat_sessions: { t1: { title: "Quartet", user_id: "ada", messages }, t2: { user_id: "ada", messages: greeting } } };

const history = {
  ids: ["c2", "c1", "c3"],
  documents: ["Two seats are left.", "Any seats for the quartet?", "Hello"],
  metadatas: [
    { session_id: "t1", role: "ai", created_at: seconds + 2, user_id: "ada" },
    { session_id: "t1", role: "human", created_at: seconds, user_id: "ada" },
    { session_id: "t2", role: "human", created_at: (seconds + 86_400) * 1_000, user_id: "ada" },
  ],
  embeddings: null,
};

const SAID = [
  ["t1", "user", "Any seats for the quartet?", "2026-01-05T10:00:00.000Z"],
  ["t1", "assistant", "Two seats are left.", "2026-01-05T10:00:02.000Z"],
  ["t2", "user", "Hello", "2026-01-06T10:00:00.000Z"],
];
const FILES = [
  ["Chainlit's steps and threads beside each other", { threads: THREADS, steps: STEPS, elements: ELEMENTS }],
  ["Chainlit's documents of one container, in any order", [...STEPS, ...ELEMENTS, ...THREADS]],
  ["Chainlit's threads with their steps", inThreads],
  ["a Firestore export", exported],
  ["Firestore's documents nested plainly", nested],
  ["a history of Chroma's", history],
] as const;

test.each(FILES)("%s: messages of user and assistant, in their order, with ids, times and titles", (_, document) => {
  const { lines = [], titles } = readOtherProduct(document, NOW) ?? {};
  expect(lines.map(({ session_id, role, content, created_at }) => [session_id, role, content, created_at])).toEqual(SAID);
  expect(new Set(lines.map(({ message_id }) => message_id)).size).toBe(3);
  if (!("ids" in document)) expect([...(titles ?? [])]).toEqual([["t1", "Quartet"]]);
});

const TOOL_AND_ELEMENTS = [
  { pointer: "/messages", detail: "1 step or message that is neither the user's nor the assistant's" },
  { pointer: "/elements", detail: "2 elements, such as files and images" },
];

test.each(FILES)("%s: what is not kept is counted, and where all is kept nothing is said", (name, document) => {
  expect(readOtherProduct(document, NOW)?.leftOut).toEqual(name.startsWith("Chainlit") ? TOOL_AND_ELEMENTS : []);
});

test("what a tool or the system said in a Firestore export is counted too", () => {
  const said = { ...messages, m3: { role: "tool", content: "{}" }, m4: { role: "system", content: "Be kind." } };
  const document = { chat_sessions: { t1: { messages: said } } };
  const { lines, leftOut } = readOtherProduct(document, NOW) ?? {};
  expect(lines).toHaveLength(2);
  expect(leftOut).toEqual([{ pointer: "/messages", detail: "2 steps or messages that are neither the user's nor the assistant's" }]);
});

test.each([
  ["an export of our own", { format: "maitred-export", version: 1, sessions: [] }],
  ["a list of something else", [{ id: "x", kind: "invoice" }]],
  ["lists of other lengths", { ids: ["a"], documents: [], metadatas: [] }],
  ["steps of tools alone", [step("s1", "t1", "tool", "{}", "2026-01-05T10:00:00.000Z")]],
  ["nothing", null],
])("%s is none of them", (_, document) => {
  expect(readOtherProduct(document, NOW)).toBeNull();
});

test("a file of several users is refused whole", () => {
  const two = [inThreads[0], { ...inThreads[1], userIdentifier: "bob" }];
  expect(() => readOtherProduct(two, NOW)).toThrow(/2 users/);
});

test("what can't be a message is told with its place, and nothing of it", () => {
  const long = { chat_sessions: { t1: { messages: { m1: { role: "user", content: "a secret".repeat(20_000) } } } } };
  expect(() => readOtherProduct(long, NOW)).toThrow(/^Conversation 1, message 1: content/);
  expect(() => readOtherProduct(long, NOW)).not.toThrow(/secret/);
});

describe("over the product", () => {
  test.each(FILES)("%s is taken in, once", async (name, document) => {
    const world = await startWorld(await tempDir());
    const client = world.as("ada");
    const left = name.startsWith("Chainlit") ? { left_out: TOOL_AND_ELEMENTS } : {};
    expect((await client.post("/v1/import", document)).body).toEqual({ sessions: 2, messages: 3, skipped_duplicates: 0, ...left });
    expect((await client.post("/v1/import", document)).body).toEqual({ sessions: 2, messages: 0, skipped_duplicates: 3, ...left });
    const { body } = await client.get<{ data: { title: string | null; message_count: number }[] }>("/v1/sessions");
    expect(body.data.map(({ message_count }) => message_count).toSorted()).toEqual([1, 2]);
  });
});
