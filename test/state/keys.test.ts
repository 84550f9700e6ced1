import { expect, test } from "vitest";
import { compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { ownerOf } from "../../src/domain/owner.js";
import { silentLogger } from "../../src/platform/logger.js";
import { committed } from "../../src/state/durable-commit.js";
import { MemoryEngine } from "../../src/state/engines/memory/memory-engine.js";
import { aLife, CANARY } from "../support/a-life.js";
import { SLOW } from "../support/projects.js";
import { connected } from "./turns/replicas.js";

/** As `state/engine.ts` documents them. */
const VISIBLE_ASCII = /^[\u0021-\u007e]+$/;

test.each(["", "two words", "Zoë", "a\nb", "a\u0000b", "\ud800"])(
  "no commit puts the key %j, and nothing is asked of the engine",
  async (key) => {
    const engine = new MemoryEngine();
    const puts = [
      { key: "record/1", value: "{}" },
      { key, value: "{}" },
    ];
    await expect(committed(engine, "o:a", { puts })).rejects.toMatchObject({ code: "INTERNAL" });
    expect((await engine.read("o:a", {})).version).toBe(0);
  },
);

test("of all that a user does who uses everything, no text and no name gets into a key", { tags: [SLOW] }, async () => {
  const named = new Set<string>();
  const state = connected(new MemoryEngine(), (run, call, partition, given) => {
    if (call === "commit") {
      named.add(String(partition));
      for (const { key } of (given as { readonly puts?: readonly { readonly key: string }[] }).puts ?? []) named.add(key);
    }
    return run();
  });
  const config = parseConfig({ MEM0_PROVIDER: "state", RECALL_DEADLINE_MS: "10000" });
  const application = await compose(config, { state, logger: silentLogger });
  const owner = ownerOf("default", "zoë@the/hill");
  await aLife(application, owner);
  await application.privacy.erase(owner, { by: "user" });
  await application.close({ drainMs: 0 });
  const kinds = new Set([...named].map((key) => key.split("/")[0]));
  expect([...kinds]).toEqual(expect.arrayContaining(["session", "journal", "memory-log", "vector", "ledger", "feed"]));
  expect([...named].filter((key) => !VISIBLE_ASCII.test(key) || key.includes(CANARY) || /hill|chat-/.test(key))).toEqual([]);
});
