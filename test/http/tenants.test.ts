import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import OpenAI from "openai";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createMaitred } from "../../src/index.js";
import { startWorld, tempDir, type World } from "../e2e/world.js";
import { type ChatBody, OpenAIStub } from "../support/openai-stub.js";

const DAY_MS = 86_400_000;
const category = (name: string) => ({ name, description: `what of ${name} is liked`, fixed: [], open: "the thing" });
const TENANTS = {
  acme: { model: "acme-large", prompt: "You keep Acme's boats.", categories: [category("sails"), category("other")], retention_days: 7 },
  bolt: {
    model: "bolt-mini",
    prompt: "You keep Bolt's trains.",
    categories: [category("carriages"), category("other")],
    retention_days: 60,
  },
};
const KEYS = ["acme", "bolt", "plain"].map((tenant) => ({
  sha256: createHash("sha256").update(tenant).digest("hex"),
  tenant,
  user: "ada",
}));

let stub: OpenAIStub;
beforeEach(async () => {
  stub = await OpenAIStub.open();
  stub.chatOtherwise((body) => ({ text: isReading(body) ? reading(body) : `Answered by ${body.model}.` }));
});
afterEach(() => stub.close());

const isReading = (body: ChatBody) => body.response_format !== undefined;
const textOf = (body: ChatBody, role: string) => String(body.messages.find((message) => message.role === role)?.content ?? "");
/** Whatever the table is: the guest's words under the category that only one of the tenants has. */
const reading = (body: ChatBody) => {
  const name = ["sails", "carriages"].find((each) => textOf(body, "system").includes(`what of ${each} is liked`)) ?? "seating";
  const operation = { op: "add", quote: "red ones", text: "Likes red ones", about: "red ones", category: name, stance: "stated" };
  return JSON.stringify({ off_record: null, operations: [operation] });
};

async function serve(tenants: object, more: Readonly<Record<string, string>> = {}, clock = { now: () => new Date() }): Promise<World> {
  const dir = await tempDir();
  const files = { TENANTS_FILE: join(dir, "tenants.json"), API_KEYS_FILE: join(dir, "keys.json") };
  await writeFile(files.TENANTS_FILE, JSON.stringify(tenants));
  await writeFile(files.API_KEYS_FILE, JSON.stringify(KEYS));
  const model = { OPENAI_BASE_URL: stub.url, OPENAI_API_KEY: "k", OPENAI_MODEL: "everybodys", EMBEDDING_PROVIDER: "hashing" };
  return startWorld(dir, { AUTH_MODE: "api-key", RATE_LIMIT_PER_MINUTE: "0", ...files, ...model, ...more }, { clock });
}

async function ask<T>(world: World, tenant: string, method: string, path: string, body?: object): Promise<T> {
  const headers = { Authorization: `Bearer ${tenant}`, "Content-Type": "application/json" };
  const answer = await world.app.request(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  expect([path, answer.status]).toEqual([path, expect.toSatisfy((status: number) => status < 300)]);
  return (answer.status === 204 ? null : await answer.json()) as T;
}

async function says(world: World, tenant: string, message: string) {
  const { session_id: id, ...answer } = await ask<{ session_id: string; message: { metadata: { model: string } } }>(
    world,
    tenant,
    "POST",
    "/v1/chat",
    { message },
  );
  await ask(world, tenant, "POST", `/v1/sessions/${id}/flush?timeout_ms=20000`);
  return { id, ...answer };
}

const bodies = () => stub.requests.filter(({ path }) => path === "/chat/completions").map(({ body }) => body as ChatBody);

describe("tenants of one server [tenant-settings]", () => {
  test("each is answered by its own model under its own prompt, and the others as everybody is", async () => {
    const world = await serve(TENANTS);
    for (const [tenant, model, prompt] of [
      ["acme", "acme-large", "You keep Acme's boats."],
      ["bolt", "bolt-mini", "You keep Bolt's trains."],
      ["plain", "everybodys", "concierge"],
    ] as const) {
      const before = bodies().length;
      const { message } = await says(world, tenant, "I like red ones.");
      expect(message.metadata.model).toBe(model);
      const sent = bodies().slice(before);
      expect(new Set(sent.map((body) => body.model))).toEqual(new Set([model]));
      const told = sent.filter((body) => !isReading(body)).map((body) => textOf(body, "system"));
      expect(told[0]).toContain(prompt);
      const others = ["Acme", "Bolt"].filter((name) => !prompt.includes(name));
      expect(others.filter((name) => JSON.stringify(sent).includes(name))).toEqual([]);
      expect(await ask(world, tenant, "GET", "/v1/models")).toMatchObject({ data: [{ id: model }] });
      expect(await ask(world, tenant, "GET", "/v1/me")).toMatchObject({ server: { model: { name: model } } });
    }
  });

  test("OpenAI's client is told each tenant's model, from the first event of a stream on", async () => {
    const world = await serve(TENANTS);
    const fetch = (url: string | URL | Request, init?: RequestInit) => Promise.resolve(world.app.request(String(url), init ?? {}));
    const client = new OpenAI({ apiKey: "bolt", baseURL: "http://localhost/v1", fetch });
    const chunks = await client.chat.completions.create({ model: "any", stream: true, messages: [{ role: "user", content: "Hello." }] });
    for await (const chunk of chunks) expect(chunk.model).toBe("bolt-mini");
  });

  test("each has what it remembers read and kept by its own categories, also what is stated by hand", async () => {
    const world = await serve(TENANTS);
    for (const [tenant, own] of [
      ["acme", "sails"],
      ["bolt", "carriages"],
      ["plain", "seating"],
    ] as const) {
      await says(world, tenant, "I like red ones.");
      await ask(world, tenant, "POST", "/v1/memories", { text: "Likes blue ones", category: own });
      // A category of another tenant's is none of this one's.
      await ask(world, tenant, "POST", "/v1/memories", { text: "Likes green ones", category: own === "sails" ? "carriages" : "sails" });
      const { data } = await ask<{ data: { text: string; category: string }[] }>(world, tenant, "GET", "/v1/memories");
      expect(Object.fromEntries(data.map(({ text, category: kept }) => [text, kept]))).toEqual({
        "Likes red ones": own,
        "Likes blue ones": own,
        "Likes green ones": "other",
      });
    }
  });

  test("each keeps its sessions for its own days, as `expires_at` says and the retention run does", async () => {
    const start = Date.parse("2026-03-02T10:00:00.000Z");
    let now = start;
    const world = await serve(TENANTS, { RETENTION_BATCH: "1" }, { now: () => new Date(now) });
    const ids = new Map<string, string>();
    for (const [tenant, days] of [
      ["bolt", 60],
      ["acme", 7],
      ["plain", 30],
    ] as const) {
      const session = await ask<{ id: string; expires_at: string }>(world, tenant, "POST", "/v1/sessions", {});
      expect(Date.parse(session.expires_at)).toBe(start + days * DAY_MS);
      ids.set(tenant, session.id);
    }
    const statuses = () =>
      Promise.all(
        [...ids].map(async ([tenant, id]) => {
          const headers = { Authorization: `Bearer ${tenant}` };
          const answer = await world.app.request(`/v1/sessions/${id}`, { headers });
          return answer.status === 404 ? "gone" : ((await answer.json()) as { status: string }).status;
        }),
      );
    const passed: unknown[] = [];
    for (const day of [7, 30, 37, 60, 90]) {
      now = start + day * DAY_MS;
      await world.application.parts.retention({ dryRun: false });
      passed.push([day, ...(await statuses())]);
    }
    expect(passed).toEqual([
      [7, "active", "deleted", "active"],
      [30, "active", "deleted", "deleted"],
      [37, "active", "gone", "deleted"],
      [60, "deleted", "gone", "gone"],
      [90, "gone", "gone", "gone"],
    ]);
  });

  test("what one tenant's call learns of an endpoint's model is known to the next tenant's of the same model", async () => {
    const world = await serve(
      { acme: { model: "old", prompt: "Boats." }, bolt: { model: "old", prompt: "Trains." } },
      { OPENAI_API: "chat" },
    );
    stub.refuseParameter("stream_options");
    await says(world, "acme", "Hello.");
    const before = bodies().length;
    await says(world, "bolt", "Hello.");
    const asked = bodies().slice(before);
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((body) => body.stream_options !== undefined)).toEqual([]);
  });
});

describe("a file of tenants", () => {
  test.each([
    ["is not there", null, "/TENANTS_FILE", /can't be read/],
    ["is not JSON", "{", "/TENANTS_FILE", /not JSON/],
    ["is a list", "[]", "/TENANTS_FILE", /settings by tenant/],
    ["has a misspelt setting", '{"acme":{"promt":"x"}}', "/TENANTS_FILE", /\/acme\/promt: .*did you mean `prompt`/],
    ["has options' names", '{"acme":{"retentionDays":3}}', "/TENANTS_FILE", /\/acme\/retentionDays: .*did you mean `retention_days`/],
    ["has half a day", '{"acme":{"retention_days":{"active":0.5}}}', "/TENANTS_FILE", /\/acme\/retention_days: a whole number/],
    ["has categories without `other`", JSON.stringify({ acme: { categories: [category("sails")] } }), "/TENANTS_FILE", /`other`/],
    ["has a blank prompt", '{"acme":{"prompt":" "}}', "/TENANTS_FILE", /\/acme\/prompt: must not be blank/],
    ["names no tenant", '{"*":{}}', "/TENANTS_FILE", /\/\*: can't name a tenant/],
  ])("that %s stops the start, with the place of the error", async (_name, text, pointer, message) => {
    const dir = await tempDir();
    const tenantsFile = join(dir, "tenants.json");
    if (text !== null) await writeFile(tenantsFile, text);
    await expect(createMaitred({ shortTermBackend: "memory", tenantsFile })).rejects.toMatchObject({
      code: "INVALID_CONFIG",
      message: expect.stringMatching(message),
      errors: [expect.objectContaining({ pointer })],
    });
  });

  test("that names a model is refused where there is no provider of models", async () => {
    const tenants = { acme: { model: "acme-large" } };
    await expect(createMaitred({ shortTermBackend: "memory", tenants })).rejects.toMatchObject({
      code: "INVALID_CONFIG",
      message: expect.stringContaining("acme-large"),
    });
  });
});

describe("in code", () => {
  test("a tenant's settings stand as an option, before the file's; its model may be one of one's own", async () => {
    const tenantsFile = join(await tempDir(), "tenants.json");
    await writeFile(tenantsFile, JSON.stringify({ acme: { prompt: "From the file." }, bolt: { prompt: "Bolt's, from the file." } }));
    const prompts: string[] = [];
    const model = {
      name: "acmes-own",
      standIn: false,
      async *stream({ messages, task = "chat" }: { messages: readonly { role: string; content: string }[]; task?: string }) {
        if (task === "chat") prompts.push(messages[0]?.content ?? "");
        yield { type: "text" as const, delta: task === "extraction" ? '{"off_record":null,"operations":[]}' : "Aye." };
        yield { type: "end" as const, reason: "stop" as const, usage: { input_tokens: 1, output_tokens: 1 } };
      },
    };
    const maitred = await createMaitred({
      shortTermBackend: "memory",
      tenantsFile,
      model,
      tenants: { acme: { model: { ...model, name: "acmes-second" }, prompt: "In code.", retentionDays: { active: 1, deleted: 2 } } },
    });
    onTestFinished(() => maitred.close());
    const answers = [];
    for (const tenant of ["acme", "bolt"]) answers.push(await maitred.for({ user: "ada", tenant }).chat("Hello."));
    expect(answers.map(({ message }) => message.metadata?.model)).toEqual(["acmes-second", "acmes-own"]);
    expect(prompts.map((prompt) => prompt.split("\n")[0])).toEqual(["In code.", "Bolt's, from the file."]);
  });

  test("an unknown setting is refused with the nearest name", async () => {
    const tenants = { acme: { retention_days: 3 } } as Record<string, object>;
    await expect(createMaitred({ shortTermBackend: "memory", tenants })).rejects.toMatchObject({
      code: "INVALID_CONFIG",
      errors: [{ pointer: "/tenants/acme/retention_days", detail: expect.stringContaining("did you mean `retentionDays`") }],
    });
  });
});
