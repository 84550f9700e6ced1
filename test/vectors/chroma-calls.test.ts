import { expect, test } from "vitest";
import { ofUser } from "../../src/testing/vectors-contract.js";
import { type ChromaApi, type ChromaCollection, isNotFound } from "../../src/vectors/chroma/chroma-driver.js";
import { ChromaKeeper } from "../../src/vectors/chroma/chroma-keeper.js";
import { PointCalls } from "../../src/vectors/in-memory/point-calls.js";

const CONFIG = JSON.stringify({ vectors: { size: 2, distance: "Cosine" } });
const INDEXES = JSON.stringify({ user_id: { type: "keyword", is_tenant: true } });

test("calls for one owner that come while Chroma is asked share the next asking, and those for another ask for themselves", async () => {
  const asked: unknown[] = [];
  const answers: (() => void)[] = [];
  const get: ChromaCollection["get"] = async ({ where }) => {
    asked.push(where?.owner);
    await new Promise<void>((resolve) => answers.push(resolve));
    return { ids: [], embeddings: [], metadatas: [] };
  };
  const metadata = { layout: 1, config: CONFIG, indexes: INDEXES, tenant_key: "user_id" };
  const collection = { id: "c", metadata, get } as unknown as ChromaCollection;
  const calls = new PointCalls(new ChromaKeeper({ getCollection: async () => collection } as unknown as ChromaApi, 1_000_000), isNotFound);
  const count = (user: string) => calls.call("count", "memory", { filter: ofUser(user) });
  const counted = [count("ana")];
  await expect.poll(() => answers.length).toBe(1);
  counted.push(count("ana"), count("ana"), count("ben"), count("ana"));
  await expect.poll(() => answers.length).toBe(2);
  answers.shift()?.();
  await expect.poll(() => answers.length).toBe(2);
  for (const answer of answers) answer();
  expect(await Promise.all(counted)).toEqual(counted.map(() => ({ count: 0 })));
  expect(asked).toEqual(["ana", "ben", "ana"]);
});
