import { expect, test } from "vitest";
import { QueryFirstQueue } from "../../src/embedding/transformers-embedder.js";

test("[query-first] one at a time: queries first, each kind in its order; what fails holds nobody up", async () => {
  const queue = new QueryFirstQueue();
  const begun: string[] = [];
  let running = 0;
  const work = (name: string) => async () => {
    expect(++running).toBe(1);
    begun.push(name);
    await Promise.resolve();
    running -= 1;
    if (name === "d2") throw new Error("It failed.");
    return name;
  };
  const documents = ["d1", "d2", "d3"].map((name) => queue.run("document", work(name)));
  const queries = ["q1", "q2"].map((name) => queue.run("query", work(name)));
  expect(await Promise.allSettled([...documents, ...queries])).toMatchObject([
    { value: "d1" },
    { reason: { message: "It failed." } },
    { value: "d3" },
    { value: "q1" },
    { value: "q2" },
  ]);
  expect(begun).toEqual(["d1", "q1", "q2", "d2", "d3"]);
  await queue.settled();
  expect(await queue.run("document", work("later"))).toBe("later");
});
