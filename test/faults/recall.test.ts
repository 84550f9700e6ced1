import { describe, test } from "vitest";
import { holds, openMatrix, STORE_DOWN } from "./matrix.js";
import { PATIENT_RECALL_MS, QUERY_PREFIX } from "./rig.js";
import { type StoreOutcome, underStoreFault } from "./store-faults.js";

const { opened, compare, comparePage } = openMatrix();

const LATE = "timeout ×3, degraded ×5";
const STORE_LATE = { ...STORE_DOWN, memory: LATE } satisfies StoreOutcome;
const EMBEDDER_DOWN = { ...STORE_DOWN, known: "standing preferences" } satisfies StoreOutcome;
const EMBEDDER_LATE = { ...EMBEDDER_DOWN, memory: LATE } satisfies StoreOutcome;
const isLate = ({ memory }: StoreOutcome) => memory === LATE;

describe("[degradation-honest] [reply-never-waits] [other-users-unaffected] a fault of what recall reads from", () => {
  test.each([
    ["refuses", { type: "refuse" }, STORE_DOWN],
    ["hangs", { type: "hang" }, STORE_LATE],
    ["slow", { type: "slow", ms: 60_000 }, STORE_LATE],
    ["500", { type: "status", status: 500 }, STORE_DOWN],
    ["429", { type: "status", status: 429 }, STORE_DOWN],
    ["malformed answer", { type: "malformed" }, STORE_DOWN],
    ["an answer that is not Qdrant's", { type: "empty" }, STORE_DOWN],
    ["half an answer, then reset", { type: "reset" }, STORE_DOWN],
    // A store that lies is asked on: what it says is checked, and hers is told from others'.
    ["other users' points", { type: "strangers" }, { ...STORE_DOWN, known: "standing preferences", asked: "7 of 7" }],
  ] as const)("Qdrant: %s", async (name, fault, expected) => {
    const rig = await opened(isLate(expected) ? {} : { recallDeadlineMs: PATIENT_RECALL_MS });
    const { qdrant, ada } = rig;
    const hers = (body: unknown) => holds(body, ada.owner);
    const seen = await underStoreFault(rig, {
      start: () => qdrant.fault(fault, ({ body }) => hers(body)),
      // What recalls alone read of an aside: what is similar to it. Write-backs have their own pace.
      asks: () => qdrant.requests.filter(({ path, body }) => /memory\/points\/query/.test(path) && hers(body)).length,
    });
    compare("Qdrant", name, expected, seen);
  });

  test.each([
    ["refuses", "refuse", EMBEDDER_DOWN],
    ["hangs", "hang", EMBEDDER_LATE],
    ["slow", "slow", EMBEDDER_LATE],
    ["500", 500, EMBEDDER_DOWN],
    ["429", 429, EMBEDDER_DOWN],
    ["malformed answer", "malformed", EMBEDDER_DOWN],
    ["half an answer, then reset", "half", EMBEDDER_DOWN],
    ["half an answer, then nothing", "stall", EMBEDDER_LATE],
    ["wrong dimension", "wrong-dimension", EMBEDDER_DOWN],
  ] as const)("embedder: %s", async (name, fault, expected) => {
    const rig = await opened(isLate(expected) ? {} : { recallDeadlineMs: PATIENT_RECALL_MS });
    const { openai, ada } = rig;
    const hers = (body: unknown) => holds(body, ada.word);
    const seen = await underStoreFault(rig, {
      start: () => openai.failEmbeddings(fault, hers),
      asks: () =>
        openai.requests.filter(({ path, body }) => path === "/embeddings" && hers(body) && holds(body, `${QUERY_PREFIX}Don't`)).length,
    });
    compare("Embedder", name, expected, seen);
  });
});

test("the page about faults says what was seen", comparePage);
