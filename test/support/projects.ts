import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The tag of a test that `npm test` leaves to `npm run test:all`, beside others of its file that it runs. */
export const SLOW = "slow";

/** What the projects of vitest.config.ts are for. Each test is of one. */
export const PROJECTS: Readonly<Record<string, string>> = {
  fast: "what shows the promises in the process of the tests: this is `npm test`",
  slow: "the same on the engines that are servers, and at every place where `fast` takes a few",
  deep: "kills, planted bugs, races, processes, the packed package, frameworks and the browser",
  faults: "the fault matrix and outages; after the others, as deadlines decide what is seen",
  model: "a real model under a real server, from packages of Python",
  replicas: "several servers on one engine, killed in between; after all others, as they take the whole machine",
};

export const DEEP = [
  "test/{planted,races,packaging,ecosystem,web,cli-e2e}/**/*.test.ts",
  "test/docs/site.test.ts",
  "test/crash/!(merges).test.ts",
  "test/{cli,mcp}/process.test.ts",
  "test/e2e/{processes,examples,client-examples}.test.ts",
  "test/reading/{adversarial,adversarial-doors}.test.ts",
  "test/embedding/transformers-embedder.test.ts",
  "test/state/jsonl/killed-writer.test.ts",
  "test/encryption/killed.test.ts",
];
export const FAULTS = ["test/faults/**/*.test.ts"];
export const MODEL = ["test/real-model/**/*.test.ts"];
export const REPLICAS = ["test/replicas/**/*.test.ts"];

/** Files with tests that are tagged: by `needing` where that is a server, or by themselves. */
export function filesWithSlowTests(root: string): string[] {
  return readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.ts") && !path.includes("node_modules"))
    .map((path) => `test/${path}`)
    .filter((path) => /\bneeding\(|\[SLOW\]/.test(readFileSync(join(root, path), "utf8")));
}
