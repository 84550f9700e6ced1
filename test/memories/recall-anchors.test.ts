import { expect, test } from "vitest";
import { CONCIERGE_RECALL } from "../../packages/concierge/src/recall-table.js";
import type { RecallTable } from "../../src/domain/recall-table.js";
import { RecallAnchors } from "../../src/memories/recall-anchors.js";

const table = {
  ...CONCIERGE_RECALL,
  occasions: {
    eat: { words: {}, anchors: { en: ["supper"] } },
    stay: { words: {}, anchors: { en: ["bed"] } },
  },
  elsewhere: { words: {}, anchors: { en: ["rain"] } },
  idle: { ...CONCIERGE_RECALL.idle, anchors: { en: ["bye"] } },
};
/** Not of length 1, as those of some models are. */
const VECTORS: Readonly<Record<string, readonly number[]>> = {
  supper: [3, 0, 0, 0],
  bed: [0, 5, 0, 0],
  rain: [0, 0, 2, 0],
  bye: [0, 0, 0, 1],
};
const embed = async (texts: readonly string[]) => texts.map((text) => Float32Array.from(VECTORS[text] ?? []));
const embedder = { id: "scripted", dimension: 4, lexical: false, embed };

test("the nearest anchor tells what a message means, whatever the length of the vectors; nothing before they are embedded", async () => {
  const anchors = new RecallAnchors(table, embedder);
  expect(anchors.meaningOf([9, 1, 0, 0])).toBeNull();
  await anchors.load();
  expect(anchors.meaningOf([9, 1, 0, 0])).toEqual({ sure: ["eat"], likely: ["eat"], elsewhere: false, idle: false });
  expect(anchors.meaningOf([0, 1, 8, 0])).toEqual({ sure: [], likely: [], elsewhere: true, idle: false });
  expect(anchors.meaningOf([0, 0, 0, 0])).toEqual({ sure: [], likely: [], elsewhere: false, idle: false });
  expect(anchors.meaningOf([0, 0.2, 0, 0.9])).toEqual({ sure: [], likely: [], elsewhere: false, idle: true });
  expect(anchors.meaningOf([0.9, 0, 0, 0.8])).toMatchObject({ sure: ["eat"], idle: false });
  // Nothing is likely, and one thing possible; and nearest to idle talk, but far from it.
  expect(anchors.meaningOf([0.28, -0.96, 0, 0])).toMatchObject({ sure: [], likely: ["eat"] });
  expect(anchors.meaningOf([0, -0.94, 0, 0.34])).toMatchObject({ likely: [], idle: false });
});

test("a table needs no idle talk's anchors", async () => {
  const { words, beside } = CONCIERGE_RECALL.idle;
  const plain: RecallTable = { ...table, idle: { words, beside } };
  const anchors = new RecallAnchors(plain, embedder);
  await anchors.load();
  expect(anchors.meaningOf([0, 0, 0, 1])).toMatchObject({ idle: false });
});

test("anchors that can't be embedded tell nothing, and fail nobody", async () => {
  const anchors = new RecallAnchors(table, { ...embedder, embed: async () => Promise.reject(new Error("down")) });
  await anchors.load();
  expect(anchors.meaningOf([9, 1, 0])).toBeNull();
});

test("what a reply waits for stands behind a few anchors, and what is meant is told when all are there", async () => {
  const many = Array.from({ length: 40 }, (_, at) => `supper ${at}`);
  const served: string[] = [];
  let turn: Promise<void> = Promise.resolve();
  let start = () => {};
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  // In the order in which it is asked, a text at a time, from when it is started.
  const inOrder = (texts: readonly string[]) => {
    const done = turn.then(async () => {
      await started;
      served.push(...texts);
      return texts.map(() => Float32Array.from([1, 0, 0]));
    });
    turn = done.then(() => {});
    return done;
  };
  const anchors = new RecallAnchors(
    { ...table, occasions: { eat: { words: {}, anchors: { en: many } } } },
    { ...embedder, dimension: 2, embed: inOrder },
  );
  const loaded = anchors.load();
  const reply = inOrder(["a reply's message"]);
  start();
  await reply;
  expect(served.indexOf("a reply's message")).toBeLessThanOrEqual(8);
  expect(anchors.meaningOf([1, 0, 0])).toBeNull();
  await loaded;
  expect(served).toHaveLength(43);
  expect(anchors.meaningOf([1, 0, 0])).toMatchObject({ sure: ["eat"] });
});
