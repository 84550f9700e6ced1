import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LEASE_MS } from "../../src/platform/held-lease.js";
import type { ChatAnswer } from "../../src/ports/resources.js";
import { type InstalledPackage, PACKED_WITHIN_MS } from "../packaging/install.js";
import { needing } from "../support/needing.js";
import type { ChatBody } from "../support/openai-stub.js";
import { ENGINES, type EngineServer } from "./engines.js";
import { installedForReplicas } from "./installed.js";
import { withStubbedCluster } from "./stubbed-cluster.js";

/** Longer than the lease, though not by much. */
const SUSPENDED_MS = LEASE_MS + 7_000;

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installedForReplicas();
}, PACKED_WITHIN_MS);
afterAll(() => installed.remove());

async function story(open: () => Promise<EngineServer>): Promise<void> {
  const isOf = (message: string) => (body: unknown) => String((body as ChatBody).messages?.at(-1)?.content).endsWith(message);
  await withStubbedCluster(installed, open, {}, async ({ cluster, openai }) => {
    try {
      await cluster.start();
      await cluster.start();
      const said = await cluster.ask("POST", "/v1/chat", "ada", { body: { message: "Is there any jazz today" }, which: "first" });
      expect(said?.status).toBe(200);
      const session_id = (said?.body as ChatAnswer | undefined)?.session_id;
      const say = (message: string, which: "first" | "last") =>
        cluster.ask("POST", "/v1/chat", "ada", { body: { message, session_id }, key: message, which });
      openai.failChat("slow", isOf("Is there any folk today"));
      const late = say("Is there any folk today", "first");
      await expect.poll(() => openai.requests.some(({ body }) => isOf("Is there any folk today")(body)), { timeout: 10_000 }).toBe(true);
      cluster.suspend();
      const [meanwhile] = await Promise.all([say("Is there any opera today", "last"), pause(SUSPENDED_MS)]);
      expect(meanwhile?.status).toBe(200);
      openai.failChat(undefined);
      openai.release();
      cluster.goOn();
      // Its client is told to ask again, or is gone by then.
      expect((await late)?.status ?? 503).toBeGreaterThanOrEqual(409);
      const answered = await say("Is there any folk today", "last");
      expect(answered?.status).toBe(200);
      expect((await say("Is there any folk today", "first"))?.body).toEqual(answered?.body);
      const thread = (await cluster.read(`/v1/sessions/${session_id}/messages`, "ada")) as { data: { role: string; turn: number }[] };
      expect(thread.data.map(({ role, turn }) => `${turn} ${role}`)).toEqual([
        "1 user",
        "1 assistant",
        "2 user",
        "3 user",
        "3 assistant",
        "2 assistant",
      ]);
    } finally {
      // One that sleeps can't be stopped.
      cluster.goOn();
    }
  });
}

for (const { program, name, open } of ENGINES)
  needing(program)(`a replica on ${name} that sleeps in the middle of a turn for longer than its lease`, () => {
    test(
      "[turn-order] writes nothing when it wakes: the turn that came meanwhile is whole, and its own is answered once",
      () => story(open),
      120_000,
    );
  });
