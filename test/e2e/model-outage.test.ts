import { expect, onTestFinished, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { replyTo } from "../faults/rig.js";
import { OpenAIStub } from "../support/openai-stub.js";
import { TestClock } from "../support/session-world.js";
import { openWorld, startWorld, tempDir } from "./world.js";

const ada = ownerOf("default", "ada");

test("[outage-caught-up] what is said while the model's endpoint is dead is read when it is back, over a restart, and nobody calls for it", async () => {
  const openai = (await OpenAIStub.open()).chatOtherwise(replyTo);
  onTestFinished(() => openai.close());
  const dir = await tempDir();
  const clock = new TestClock();
  const variables = { OPENAI_BASE_URL: openai.url, OPENAI_API_KEY: "test", LOG_LEVEL: "silent" };
  openai.failChat("refuse");
  const before = await openWorld(dir, variables, { clock });
  expect((await before.as("ada").post("/v1/chat", { message: "I prefer nut-free menus." })).status).toBe(502);
  const { store, worker } = before.application.parts;
  await worker.drain(20_000);
  const [pending] = await store.turns.of(ada);
  // The first delay is anything from nothing on, so it may have been tried once more.
  expect(pending).toMatchObject({ state: "pending", errorCode: "MODEL_UNAVAILABLE" });
  expect(pending?.attempts).toBeGreaterThan(0);
  // As after half a minute of it: the eighth try is the last of what fails by itself.
  const seventh = { attempts: 7, dueAtMs: clock.now().getTime(), errorCode: "MODEL_UNAVAILABLE" };
  await store.turns.recordAttempt({ owner: ada, sessionId: pending?.sessionId ?? "", turn: 1 }, seventh);
  await worker.drain(20_000);
  expect(await store.turns.of(ada)).toMatchObject([{ state: "pending", attempts: 8 }]);
  await before.application.close({ drainMs: 0 });

  openai.heal();
  const after = await startWorld(dir, variables, { clock });
  clock.seconds(600);
  await after.application.parts.worker.drain(20_000);
  expect((await after.as("ada").get("/v1/memories")).body).toMatchObject({ data: [{ text: "Prefers nut-free menus" }] });
});
