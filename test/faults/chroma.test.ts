import { afterAll, beforeAll, beforeEach, test } from "vitest";
import { type ChromaServer, openChromaServer } from "../support/chroma-server.js";
import { needing } from "../support/needing.js";
import { type HttpFault, type HttpProxy, startHttpProxy } from "./http-proxy.js";
import { openMatrix, READS, readSince, STORE_DOWN } from "./matrix.js";
import { PATIENT_RECALL_MS } from "./rig.js";
import { type StoreOutcome, underStoreFault } from "./store-faults.js";

const { opened, compare, comparePage } = openMatrix();

const { asked: _, ...DOWN } = STORE_DOWN;
const LATE = "timeout ×3, degraded ×5";
const EVERYTHING = /./;
const WRITES = /\/(?:add|delete)$/;

needing("chroma", "clouds")("[degradation-honest] [reply-never-waits] [other-users-unaffected] a fault of Chroma", () => {
  let server: ChromaServer;
  let proxy: HttpProxy;
  beforeAll(async () => {
    server = await openChromaServer();
    proxy = await startHttpProxy(server.url);
  });
  /** Each row's guests are new. */
  beforeEach(async () => {
    const store = await server.open();
    for (const name of ["memory", "history"]) await store.client.deleteCollection(name);
    await store.close();
  });
  afterAll(async () => {
    await proxy.close();
    await server.close();
  });

  test.each([
    ["refuses", "refuse", EVERYTHING, DOWN],
    ["silent", "hang", EVERYTHING, { ...DOWN, memory: LATE }],
    ["500", 500, EVERYTHING, DOWN],
    ["throttled for long (429)", 429, EVERYTHING, DOWN],
    ["a proxy in front asks for a key (401)", 401, EVERYTHING, DOWN],
    ["malformed answer", "malformed", EVERYTHING, DOWN],
    ["refuses writes: read-only, or full", 500, WRITES, { ...DOWN, ...READS }],
  ] as const satisfies readonly (readonly [string, HttpFault, RegExp, Omit<StoreOutcome, "asked">])[])(
    "%s",
    async (name, fault, which, expected) => {
      const vectors = { variables: { MEM0_PROVIDER: "chroma", CHROMA_URL: proxy.url }, mend: () => proxy.fault(null, () => false) };
      const rig = await opened({ vectors, ...(fault !== "hang" && { recallDeadlineMs: PATIENT_RECALL_MS }) });
      const owner = JSON.stringify(rig.ada.owner);
      const seen = await underStoreFault(rig, {
        start: () => proxy.fault(fault, (path, body) => which.test(path) && body.includes(owner.slice(1, -1))),
        // What is written back reads by owner too, at its own pace.
        asks: () => 0,
      });
      compare("Chroma", name, expected, readSince(seen));
    },
  );
});

test("the page about faults says what was seen", comparePage);
