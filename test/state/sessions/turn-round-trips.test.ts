import { expect, test } from "vitest";
import { ownerOf } from "../../../src/domain/owner.js";
import type { StateEngine } from "../../../src/state/engine.js";
import { MemoryEngine } from "../../../src/state/engines/memory/memory-engine.js";
import { ownerPartition } from "../../../src/state/partition.js";
import { answering, makeOrchestrator } from "../../support/orchestrator.js";

const ada = ownerOf("default", "ada");

/** What is asked of an engine for an owner's sessions, in order; events are published beside it. */
function asked(engine: StateEngine): string[] {
  const calls: string[] = [];
  const { read, commit } = { read: engine.read.bind(engine), commit: engine.commit.bind(engine) };
  const isSessions = (key: string) => !key.startsWith("outbox");
  engine.read = (partition, query, options) => {
    const keys = [...(query.keys ?? []), ...(query.ranges ?? []).map(({ from }) => from)];
    if (partition === ownerPartition(ada) && keys.some(isSessions)) calls.push("read");
    return read(partition, query, options);
  };
  engine.commit = (partition, given) => {
    const keys = [...(given.puts ?? []).map(({ key }) => key), ...(given.deletes ?? [])];
    if (partition === ownerPartition(ada) && keys.some(isSessions)) calls.push("commit");
    return commit(partition, given);
  };
  return calls;
}

test("a turn is one look and two commits: it begins with its lock, and its lock ends with its answer", async () => {
  const engine = new MemoryEngine();
  const calls = asked(engine);
  const { chat } = await makeOrchestrator(answering("one", "two"), { engine });
  const { session_id: sessionId } = await chat.chat({ owner: ada, message: "hello" });
  expect(calls.splice(0)).toEqual(["read", "commit", "commit"]);
  await chat.chat({ owner: ada, sessionId, message: "again" });
  expect(calls).toEqual(["read", "commit", "commit"]);
});
