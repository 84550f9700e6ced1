import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Overrides } from "../../src/compose/composed.js";
import { parseConfig } from "../../src/compose/config.js";
import type { ToldEvent } from "../../src/ports/events.js";
import { openWorld, startWorld, tempDir, type World } from "../e2e/world.js";
import { openWebhookReceiver, WEBHOOK_SECRET, type WebhookReceiver } from "../support/webhook-receiver.js";

/** Keys of two trusted backends, and of a user. */
const KEYS = [
  { key: "backend", tenant: "default", user: null },
  { key: "other", tenant: "elsewhere", user: null },
  { key: "user", tenant: "default", user: "ada" },
];

async function keysFile(dir: string): Promise<string> {
  const path = join(dir, "keys.json");
  const entries = KEYS.map(({ key, tenant, user }) => ({ sha256: createHash("sha256").update(key).digest("hex"), tenant, user }));
  await writeFile(path, JSON.stringify(entries));
  return path;
}

/** What a request of one of them has. */
function of(key: string, user?: string): Record<string, string> {
  return { Authorization: `Bearer ${key}`, ...(user !== undefined && { "X-User-Id": user }) };
}

async function worldOf(receiver: WebhookReceiver, webhooks: Overrides["webhooks"] = { waitsMs: [] }): Promise<World> {
  const dir = await tempDir();
  const variables = { WEBHOOK_URL: receiver.url, WEBHOOK_SECRET, AUTH_MODE: "api-key", API_KEYS_FILE: await keysFile(dir) };
  return startWorld(dir, variables, webhooks === undefined ? {} : { webhooks });
}

/** A session of the user's, by the backend. Its id. */
async function session(world: World, user: string): Promise<string> {
  const response = await world.app.request("/v1/sessions", { method: "POST", headers: of("backend", user) });
  return ((await response.json()) as { id: string }).id;
}

async function got<T>(world: World, path: string, key: string): Promise<{ readonly status: number; readonly body: T }> {
  const response = await world.app.request(path, { headers: of(key) });
  return { status: response.status, body: (await response.json()) as T };
}

type Dead = { readonly data: readonly { readonly event: ToldEvent; readonly attempts: number; readonly error: string }[] };

describe("a webhook", () => {
  test("[events-told] brings every event, signed, under its id, in order for each user", async () => {
    const receiver = await openWebhookReceiver();
    const world = await worldOf(receiver);
    const sessions = [];
    for (const user of ["ada", "bob", "ada", "bob", "ada"]) sessions.push([user, await session(world, user)]);
    await receiver.until((received) => received.length === 5);
    for (const user of ["ada", "bob"]) {
      const ofUser = receiver.received.filter(({ event }) => event.user === user);
      expect(ofUser.map(({ event }) => event.data.session_id)).toEqual(sessions.filter(([who]) => who === user).map(([, id]) => id));
    }
    for (const { event, headers } of receiver.received) {
      expect([headers["webhook-id"], event.type, event.tenant]).toEqual([event.id, "session.created", "default"]);
    }
  });

  test("that fails is tried again by the same id, and holds back that user's others alone", async () => {
    let failures = 2;
    const receiver = await openWebhookReceiver((event, response) => {
      const fails = event.user === "ada" && failures-- > 0;
      response.writeHead(fails ? 500 : 200).end(fails ? "no" : "yes");
    });
    const world = await worldOf(receiver, { waitsMs: [300, 300, 300] });
    const first = await session(world, "ada");
    const second = await session(world, "ada");
    await session(world, "bob");
    await receiver.until((received) => received.filter(({ event }) => event.user === "ada").length === 4);
    const ofAda = receiver.received.filter(({ event }) => event.user === "ada").map(({ event }) => event);
    expect(ofAda.map(({ data }) => data.session_id)).toEqual([first, first, first, second]);
    expect(new Set(ofAda.slice(0, 3).map(({ id }) => id)).size).toBe(1);
    const place = (user: string, which: number) => receiver.received.filter((each) => each.event.user === user)[which];
    expect(receiver.received.indexOf(place("bob", 0) as never)).toBeLessThan(receiver.received.indexOf(place("ada", 2) as never));
  });

  test.each([
    ["answers 500", 500, "HTTP_500"],
    ["says that it is gone", 410, "HTTP_410"],
    ["sends elsewhere", 302, "HTTP_302"],
    ["never answers", null, "TIMEOUT"],
  ])("whose receiver %s is given up, shown to the backend, and brought again when it is asked for", async (_name, status, error) => {
    let broken = true;
    const receiver = await openWebhookReceiver((_event, response) => {
      if (!broken) response.writeHead(204).end();
      else if (status !== null) response.writeHead(status, { Location: "http://127.0.0.1:9/" }).end();
    });
    const world = await worldOf(receiver, { waitsMs: [], timeoutMs: 300 });
    const id = await session(world, "ada");
    await expect.poll(async () => (await got<Dead>(world, "/v1/events/dead", "backend")).body.data.length).toBe(1);
    const [dead] = (await got<Dead>(world, "/v1/events/dead", "backend")).body.data;
    expect([dead?.event.data.session_id, dead?.attempts, dead?.error]).toEqual([id, 1, error]);
    expect((await got<Dead>(world, "/v1/events/dead", "other")).body.data).toEqual([]);
    expect((await world.application.readiness()).parts.webhooks).toMatchObject({ status: "degraded" });
    const retry = async (key: string) => {
      const path = `/v1/events/dead/${dead?.event.id}/retry`;
      return (await world.app.request(path, { method: "POST", headers: of(key) })).status;
    };
    broken = false;
    expect([await retry("other"), await retry("user"), await retry("backend")]).toEqual([404, 404, 202]);
    await receiver.until((received) => received.length === 2);
    expect(receiver.received[1]?.event).toEqual(dead?.event);
    await expect.poll(async () => (await world.application.readiness()).parts.webhooks?.status).toBe("ok");
    expect(await retry("backend")).toBe(404);
  });

  test("[events-told] brings after a restart what it could not bring before", async () => {
    let broken = true;
    const receiver = await openWebhookReceiver((_event, response) => void response.writeHead(broken ? 503 : 204).end());
    const dir = await tempDir();
    const variables = { WEBHOOK_URL: receiver.url, WEBHOOK_SECRET };
    const before = await openWorld(dir, variables, { webhooks: { waitsMs: [1, 1, 1, 120_000] } });
    await before.as("ada").post("/v1/sessions", {});
    await receiver.until((received) => received.length === 4);
    await before.stop();
    broken = false;
    const after = await startWorld(dir, variables, { webhooks: { waitsMs: [] }, clock: { now: () => new Date(Date.now() + 150_000) } });
    await after.as("bob").post("/v1/sessions", {});
    await receiver.until((received) => received.some(({ event }) => event.user === "bob") && received.length === 6);
    expect(receiver.received.filter(({ event }) => event.user === "ada").map(({ event }) => event.id)).toHaveLength(5);
    expect(new Set(receiver.received.map(({ event }) => event.id)).size).toBe(2);
  });

  test("of an erased user brings nothing but the erasure", async () => {
    let broken = true;
    const receiver = await openWebhookReceiver((_event, response) => void response.writeHead(broken ? 503 : 204).end());
    const world = await startWorld(await tempDir(), { WEBHOOK_URL: receiver.url, WEBHOOK_SECRET }, { webhooks: { waitsMs: [300, 300] } });
    await world.as("ada").post("/v1/sessions", {});
    await receiver.until((received) => received.length === 1);
    const receipt = await world.as("ada").delete<{ verified: boolean; receipt_id: string }>("/v1/me?confirm=true");
    expect(receipt.body.verified).toBe(true);
    broken = false;
    await receiver.until((received) => received.some(({ event }) => event.type === "owner.erased"));
    expect(receiver.received.at(-1)?.event.data).toEqual({ receipt_id: receipt.body.receipt_id });
  });
});

describe("GET /v1/events", () => {
  test("is of all users of the backend's tenant, and there is none for a user", async () => {
    const dir = await tempDir();
    const world = await startWorld(dir, { AUTH_MODE: "api-key", API_KEYS_FILE: await keysFile(dir) });
    const ids = [await session(world, "ada"), await session(world, "bob")];
    const page = await got<{ data: readonly ToldEvent[] }>(world, "/v1/events", "backend");
    expect(page.body.data.map(({ user, data }) => [user, data.session_id])).toEqual([
      ["ada", ids[0]],
      ["bob", ids[1]],
    ]);
    const rest = await got<{ data: readonly ToldEvent[] }>(world, `/v1/events?after=${page.body.data[0]?.id}`, "backend");
    expect(rest.body.data).toEqual(page.body.data.slice(1));
    expect((await got<{ data: readonly ToldEvent[] }>(world, "/v1/events", "other")).body.data).toEqual([]);
    expect((await got(world, "/v1/events", "user")).status).toBe(404);
    expect((await got(world, "/v1/events", "nobody")).status).toBe(401);
    const local = await startWorld(await tempDir());
    expect((await local.as("ada").get("/v1/events")).status).toBe(404);
  });
});

test.each([
  [{ WEBHOOK_URL: "https://example.org/hook" }, /WEBHOOK_SECRET: needed by WEBHOOK_URL/],
  [{ WEBHOOK_URL: "ftp://example.org", WEBHOOK_SECRET }, /WEBHOOK_URL/],
  [{ WEBHOOK_URL: "https://example.org/hook", WEBHOOK_SECRET: "whsec_c2hvcnQ=" }, /WEBHOOK_SECRET: base64 of 24 to 64 bytes/],
  [{ WEBHOOK_URL: "https://example.org/hook", WEBHOOK_SECRET: "not base64 at all, however long it may be" }, /WEBHOOK_SECRET/],
])("variables that can't be: %o", (variables, told) => {
  expect(() => parseConfig(variables)).toThrow(told);
});
