import { expect, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import type { Job } from "../../src/ports/operator.js";
import { MapEngine } from "../state/engines/map-engine.js";
import { openWebhookReceiver, WEBHOOK_SECRET } from "../support/webhook-receiver.js";
import { startWorld, tempDir } from "./world.js";

const OPERATOR = { Authorization: "Bearer an-operator-of-thirty-two-letters" };

/** As one that several processes use says it is. */
class SharedMap extends MapEngine {
  override readonly manifest = { ...new MapEngine().manifest, shared: true };
}

test.each([
  { name: "one process'", state: () => new MapEngine() },
  { name: "several processes'", state: () => new SharedMap() },
])("an engine of one's own, $name, has the window, memories, bookings, webhooks, an operator's jobs and limits", async ({ state }) => {
  const receiver = await openWebhookReceiver();
  const variables = {
    MEM0_PROVIDER: "state",
    WEBHOOK_URL: receiver.url,
    WEBHOOK_SECRET,
    OPERATOR_TOKEN: OPERATOR.Authorization.slice("Bearer ".length),
    RATE_LIMIT_PER_MINUTE: "20",
  };
  const world = await startWorld(await tempDir(), variables, { state: state() });
  const ada = world.as("ada");
  const { session_id } = await ada.say("I prefer jazz concerts. I need step-free access.");
  for (const message of ["Any concerts next week?", "Book two of the first one.", "Yes, please book it."])
    await ada.say(message, { session_id });
  expect((await ada.get<{ data: unknown[] }>("/v1/me/bookings")).body.data).toHaveLength(1);
  expect((await ada.get<{ data: unknown[] }>(`/v1/sessions/${session_id}/messages`)).body.data).toHaveLength(8);
  const { recalled } = (await ada.say("Two tickets for a concert this weekend, please.")).memory;
  expect(recalled.map(({ text }) => text).join()).toMatch(/jazz.*step-free|step-free.*jazz/i);
  await receiver.until((received) => received.some(({ event }) => event.type === "memory.added"));

  const asked = { method: "POST", headers: { ...OPERATOR, "Content-Type": "application/json" }, body: JSON.stringify({ kind: "reindex" }) };
  const job = (await (await world.app.request("/v1/operator/jobs", asked)).json()) as Job;
  const path = `/v1/operator/jobs/${job.id}`;
  const done = async () => (await (await world.app.request(path, { headers: OPERATOR })).json()) as Job;
  await expect.poll(async () => (await done()).ended_at, { timeout: 20_000 }).not.toBeNull();
  expect(await done()).toMatchObject({ state: "succeeded" });

  let status = 200;
  for (let asked = 0; status === 200 && asked < 200; asked++) status = (await ada.get("/v1/me")).status;
  expect(status).toBe(429);
  expect((await world.as("bob").post("/v1/chat", { message: "Thanks!" })).status).toBe(200);
  expect(await world.application.privacy.erase(ownerOf("default", "ada"), { by: "user" })).toMatchObject({ verified: true });
});
