import { afterAll, beforeAll, beforeEach, test } from "vitest";
import { type ChromaServer, openChromaServer } from "../support/chroma-server.js";
import { needing } from "../support/needing.js";
import { type HttpFault, type HttpProxy, startHttpProxy } from "./http-proxy.js";
import { openMatrix, STORE_DOWN } from "./matrix.js";
import { PATIENT_RECALL_MS } from "./rig.js";
import { type StoreOutcome, underStoreFault } from "./store-faults.js";

const { opened, compare, comparePage } = openMatrix();

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
    ["refuses", "refuse", EVERYTHING, STORE_DOWN],
    ["silent", "hang", EVERYTHING, { ...STORE_DOWN, memory: LATE }],
    ["500", 500, EVERYTHING, STORE_DOWN],
    ["throttled for long (429)", 429, EVERYTHING, STORE_DOWN],
    ["a proxy in front asks for a key (401)", 401, EVERYTHING, STORE_DOWN],
    ["malformed answer", "malformed", EVERYTHING, STORE_DOWN],
    ["refuses writes: read-only, or full", 500, WRITES, STORE_DOWN],
  ] as const satisfies readonly (readonly [string, HttpFault, RegExp, StoreOutcome])[])("%s", async (name, fault, which, expected) => {
    const vectors = { variables: { MEM0_PROVIDER: "chroma", CHROMA_URL: proxy.url }, mend: () => proxy.fault(null, () => false) };
    const rig = await opened({ vectors, ...(fault !== "hang" && { recallDeadlineMs: PATIENT_RECALL_MS }) });
    const owner = JSON.stringify(rig.ada.owner);
    const seen = await underStoreFault(rig, {
      start: () => proxy.fault(fault, (path, body) => which.test(path) && body.includes(owner.slice(1, -1))),
      // Searches read by owner; what is written has its own pace.
      asks: () => proxy.failed.filter((path) => path.endsWith("/get")).length,
    });
    compare("Chroma", name, expected, seen);
  });
});

test("the page about faults says what was seen", comparePage);
