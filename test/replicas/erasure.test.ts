import { afterAll, beforeAll, expect, test } from "vitest";
import { type InstalledPackage, PACKED_WITHIN_MS } from "../packaging/install.js";
import { needing } from "../support/needing.js";
import type { ChatBody } from "../support/openai-stub.js";
import type { Cluster } from "./cluster.js";
import { ENGINES, type EngineServer } from "./engines.js";
import { installedForReplicas } from "./installed.js";
import { withStubbedCluster } from "./stubbed-cluster.js";

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installedForReplicas();
}, PACKED_WITHIN_MS);
afterAll(() => installed.remove());

/** Two replicas, of which the first reads what a guest said, and its model doesn't answer. */
async function whileOneReads(open: () => Promise<EngineServer>, then: (cluster: Cluster) => Promise<void>): Promise<void> {
  await withStubbedCluster(installed, open, {}, async ({ cluster, openai }) => {
    await cluster.start();
    openai.failChat("hang", (body) => (body as ChatBody).response_format !== undefined);
    const said = await cluster.ask("POST", "/v1/chat", "ada", { body: { message: "I prefer jazz evenings." } });
    expect(said?.status).toBe(200);
    const reading = () => openai.requests.some(({ body }) => (body as ChatBody).response_format !== undefined);
    await expect.poll(reading, { timeout: 10_000 }).toBe(true);
    await cluster.start();
    await then(cluster);
  });
}

/** Until it is answered with a receipt, as a client does. How long it took, in milliseconds. */
async function erased(cluster: Cluster): Promise<{ readonly receipt: unknown; readonly tookMs: number }> {
  const from = performance.now();
  for (;;) {
    const answered = await cluster.ask("DELETE", "/v1/me?confirm=true", "ada", { which: "last" });
    if (answered?.status === 200) return { receipt: answered.body, tookMs: performance.now() - from };
    expect(answered).toMatchObject({ status: 503, body: { code: "ERASURE_UNDER_WAY" } });
  }
}

const RECEIPT = { verified: true, erased: { sessions: 1, messages: 2, pending_write_backs: 1 } };

for (const { program, name, open } of ENGINES)
  needing(program)(`an erasure while another replica reads what the guest said, on ${name}`, () => {
    test(
      "of one that was killed: waits for the end of its leases, some 15 s, and no longer",
      () =>
        whileOneReads(open, async (cluster) => {
          await cluster.kill();
          const { receipt, tookMs } = await erased(cluster);
          expect(receipt).toMatchObject(RECEIPT);
          expect(tookMs).toBeLessThan(60_000);
        }),
      120_000,
    );

    test(
      "of one that lives: is heeded by it, within a second or two, whatever its model does",
      () =>
        whileOneReads(open, async (cluster) => {
          const { receipt, tookMs } = await erased(cluster);
          expect(receipt).toMatchObject(RECEIPT);
          expect(tookMs).toBeLessThan(30_000);
          const again = await cluster.ask("POST", "/v1/chat", "ada", { body: { message: "Is there any jazz today" } });
          expect(again?.status).toBe(200);
        }),
      120_000,
    );
  });
