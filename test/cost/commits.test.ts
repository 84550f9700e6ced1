import { expect, onTestFinished, test, vi } from "vitest";
import type { Commit } from "../../src/state/engine.js";
import { SqliteEngine } from "../../src/state/engines/sqlite/sqlite-engine.js";
import { isOwnersPartition } from "../../src/state/partition.js";
import { startWorld, tempDir } from "../e2e/world.js";
import { needQuoted, TaskModel } from "../support/task-model.js";

/** What of a commit's keys tells what it is for. */
const KINDS = ["memory-log/", "session/", "job/", "turn-record/", "outbox", "ledger/"];

function kindOf({ puts = [], deletes = [], durability }: Commit): string {
  const keys = [...puts.map(({ key }) => `+${key}`), ...deletes.map((key) => `-${key}`)];
  const kinds = KINDS.flatMap((kind) =>
    ["+", "-"].flatMap((sign) => (keys.some((key) => key.startsWith(sign + kind)) ? [sign + kind] : [])),
  );
  return `${durability ?? "durable"}: ${kinds.length === 0 ? "the alarm alone" : kinds.join(" ")}`;
}

/** One machine, its files: what is committed in the guest's partition, by what it is for. */
async function worldOnFiles() {
  const commits: string[] = [];
  const commit = SqliteEngine.prototype.commit;
  const spy = vi.spyOn(SqliteEngine.prototype, "commit").mockImplementation(function (this: SqliteEngine, partition, given) {
    if (isOwnersPartition(partition)) commits.push(kindOf(given));
    return commit.call(this, partition, given);
  });
  onTestFinished(() => spy.mockRestore());
  const model = new TaskModel();
  const world = await startWorld(await tempDir(), {}, { model });
  const { worker } = world.application.parts;
  const say = async (message: string, session_id?: string): Promise<string> => {
    const { status, body } = await world.as("ada").post<{ session_id: string }>("/v1/chat", { message, session_id });
    expect(status).toBe(200);
    expect(await worker.drain(20_000, { left: "stays" })).toBe(true);
    return body.session_id;
  };
  return { model, commits, say };
}

/** What is published, and what is told of the turn to the operator, follows some seconds later, with what comes until then. */
const soon = (kind: string) => !kind.includes("turn-record/") && !kind.includes("-outbox");

const keeps = (about: string) => () => ({ off_record: null, operations: [needQuoted(`allergic to ${about}`, about, "no_nuts")] });

test("a turn that keeps a memory is four commits in its guest's partition: its begin, its answer, the memory, its end", async () => {
  const { model, commits, say } = await worldOnFiles();
  model.read = keeps("nuts");
  const id = await say("I am allergic to nuts.");
  model.read = keeps("hazelnuts");
  commits.length = 0;
  await say("And I am allergic to hazelnuts.", id);
  expect(commits.filter(soon)).toEqual([
    "relaxed: +session/",
    "relaxed: +session/ +job/ +outbox",
    "durable: +memory-log/ +outbox",
    "relaxed: +session/ -job/",
  ]);
});
