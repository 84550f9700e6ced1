import { describe, expect, test } from "vitest";
import { MAX_IMPORT_BYTES } from "../../src/http/import.js";
import { AppError } from "../../src/platform/errors.js";
import type { Application } from "../../src/ports/application.js";
import type { RequestKey } from "../../src/ports/request-key.js";
import { fakeApplication, type Script } from "../support/fake-application.js";
import { appOver, json } from "../support/http-client.js";
import { AT, MEMORY_ID, MESSAGE_ID, SESSION_ID, sampleMemory, sampleSession } from "../support/samples.js";

const OWNER = "default:local-user";
const NOW = new Date(AT);

/** Every method that is named records how it was called and gives the value. */
function recording<P extends "sessions" | "memories" | "history">(part: P, values: { readonly [K in keyof Application[P]]?: unknown }) {
  const calls: unknown[][] = [];
  const methods = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      async (...args: unknown[]) => {
        calls.push([name, ...args]);
        return value;
      },
    ]),
  );
  return { calls, script: { [part]: methods } as Script };
}

describe("sessions", () => {
  const session = sampleSession();

  test("created with what is given, and with nothing", async () => {
    const { calls, script } = recording("sessions", { create: session });
    const app = await appOver(fakeApplication(script));
    const made = await app.request("/v1/sessions", json("POST", { title: "Weekend", metadata: { a: [1] }, expires_in_days: 7 }));
    expect([made.status, made.headers.get("Location")]).toEqual([201, `/v1/sessions/${SESSION_ID}`]);
    expect(await made.json()).toEqual(session);
    await app.request("/v1/sessions", { method: "POST" });
    expect(calls).toEqual([
      ["create", OWNER, { title: "Weekend", metadata: { a: [1] }, expiresInDays: 7 }, undefined],
      ["create", OWNER, {}, undefined],
    ]);
  });

  test("one of an own name is 201 when it is made and 200 when it is there, with what describes it", async () => {
    const answers = [true, false];
    const calls: unknown[][] = [];
    const app = await appOver(
      fakeApplication({
        sessions: {
          async findOrCreate(...args) {
            calls.push(args);
            return { session, created: answers.shift() === true };
          },
        },
      }),
    );
    const described = { external_id: "trip", topic: "Bergen", tags: ["fjord"], agent_type: "guide" };
    const ask = async () => (await app.request("/v1/sessions", json("POST", described))).status;
    expect([await ask(), await ask()]).toEqual([201, 200]);
    expect(calls[0]).toEqual([OWNER, "trip", { topic: "Bergen", tags: ["fjord"], agentType: "guide" }, undefined]);
  });

  test("listed by status, tag and title, page by page", async () => {
    const { calls, script } = recording("sessions", { list: { data: [session], nextCursor: "next" } });
    const app = await appOver(fakeApplication(script));
    const page = await app.request("/v1/sessions?status=archived&tag=trip&title=week&limit=200&cursor=abc");
    expect(await page.json()).toEqual({ data: [session], next_cursor: "next" });
    await app.request("/v1/sessions");
    expect(calls).toEqual([
      ["list", OWNER, { status: "archived", tag: "trip", title: "week", limit: 200, cursor: "abc" }],
      ["list", OWNER, {}],
    ]);
  });

  test.each(["limit=0", "limit=201", "limit=ten", "limit=1.5", "limit=1&limit=2", "limit=", "status=gone", "cursor=", "colour=red"])(
    "the query %s is 400, as what is misspelt must not be taken for everything",
    async (query) => {
      const response = await (await appOver(fakeApplication())).request(`/v1/sessions?${query}`);
      expect(response.status).toBe(400);
    },
  );

  test("deleted softly; purged with its memories, or without; keep_memories alone is a mistake", async () => {
    const { calls, script } = recording("sessions", { delete: undefined, purge: undefined });
    const app = await appOver(fakeApplication(script));
    const remove = async (query: string) => (await app.request(`/v1/sessions/${SESSION_ID}${query}`, { method: "DELETE" })).status;
    expect(await remove("")).toBe(204);
    expect(await remove("?purge=true")).toBe(204);
    expect(await remove("?purge=true&keep_memories=true")).toBe(204);
    expect(await remove("?keep_memories=true")).toBe(400);
    expect(await remove("?purge=yes")).toBe(400);
    expect(calls).toEqual([
      ["delete", OWNER, SESSION_ID],
      ["purge", OWNER, SESSION_ID, { keepMemories: false, by: "user" }],
      ["purge", OWNER, SESSION_ID, { keepMemories: true, by: "user" }],
    ]);
  });

  test("patched, restored, emptied, forked, flushed, retried", async () => {
    const state = { pending_turns: 1, failed_turns: 0 };
    const { calls, script } = recording("sessions", {
      patch: session,
      restore: session,
      empty: undefined,
      fork: session,
      flush: state,
      retryWriteBack: state,
    });
    const app = await appOver(fakeApplication(script));
    const at = `/v1/sessions/${SESSION_ID}`;
    const statuses = [
      await app.request(at, json("PATCH", { title: "T", tags: ["a"], metadata: {}, status: "archived" })),
      await app.request(at, json("PATCH", { topic: "A week in Bergen", agent_type: "guide", expires_in_days: null })),
      await app.request(`${at}/restore`, { method: "POST" }),
      await app.request(`${at}/messages`, { method: "DELETE" }),
      await app.request(`${at}/fork`, json("POST", { message_id: "their-own-id" })),
      await app.request(`${at}/flush?timeout_ms=1`, { method: "POST" }),
      await app.request(`${at}/flush`, { method: "POST" }),
      await app.request(`${at}/write-back/retry`, { method: "POST" }),
    ].map((response) => response.status);
    expect(statuses).toEqual([200, 200, 200, 204, 201, 200, 200, 202]);
    expect(calls).toEqual([
      ["patch", OWNER, SESSION_ID, { title: "T", tags: ["a"], metadata: {}, status: "archived" }],
      ["patch", OWNER, SESSION_ID, { topic: "A week in Bergen", agentType: "guide", expiresInDays: null }],
      ["restore", OWNER, SESSION_ID],
      ["empty", OWNER, SESSION_ID],
      ["fork", OWNER, SESSION_ID, "their-own-id", undefined],
      ["flush", OWNER, SESSION_ID, 1],
      ["flush", OWNER, SESSION_ID, 5000],
      ["retryWriteBack", OWNER, SESSION_ID],
    ]);
  });

  test.each([[{}], [{ status: "deleted" }], [{ title: "" }], [{ title: "a\nb" }], [{ title: "x".repeat(201) }], [{ tags: "a" }]])(
    "the patch %j is 400",
    async (patch) => {
      const response = await (await appOver(fakeApplication())).request(`/v1/sessions/${SESSION_ID}`, json("PATCH", patch));
      expect(response.status).toBe(400);
    },
  );

  test("messages come in the order that was asked for, 50 a page; the thread is the session with steps and elements", async () => {
    const message = { id: MESSAGE_ID, turn: 1, role: "user", content: "a", created_at: AT, metadata: {} };
    const step = { id: MESSAGE_ID, type: "user_message", output: "a", created_at: AT };
    const element = { id: "e", type: "text", name: "n", content: "c", display: "side", for_id: MESSAGE_ID };
    const { calls, script } = recording("sessions", {
      messages: { data: [message], nextCursor: null },
      thread: { session, steps: [step], elements: [element] },
    });
    const app = await appOver(fakeApplication(script));
    expect(await (await app.request(`/v1/sessions/${SESSION_ID}/messages?order=desc`)).json()).toEqual({
      data: [message],
      next_cursor: null,
    });
    expect(await (await app.request(`/v1/sessions/${SESSION_ID}/thread`)).json()).toEqual({
      ...session,
      steps: [step],
      elements: [element],
    });
    expect(calls[0]).toEqual(["messages", OWNER, SESSION_ID, { limit: 50, order: "desc" }]);
  });

  test.each(["..%2f..%2fetc", "%00", "CON", "x".repeat(10_000), "%252e%252e", SESSION_ID.toUpperCase(), "%E2%80%AE"])(
    "the id %s is 400 INVALID_SESSION_ID",
    async (id) => {
      const app = await appOver(fakeApplication());
      for (const [method, rest] of [
        ["GET", ""],
        ["GET", "/thread"],
        ["POST", "/restore"],
        ["DELETE", ""],
      ] as const) {
        const response = await app.request(`/v1/sessions/${id}${rest}`, { method });
        expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([400, "INVALID_SESSION_ID"]);
      }
    },
  );
});

describe("memories", () => {
  const memory = sampleMemory();

  test("listed with filters; q searches; the search by POST is the same", async () => {
    const { calls, script } = recording("memories", { list: { data: [memory], nextCursor: "c" }, search: [{ ...memory, score: 0.5 }] });
    const app = await appOver(fakeApplication(script));
    const listed = await app.request(
      "/v1/memories?category=seating&type=preference&status=superseded&as_of=2026-01-01&include_superseded=true&subject=companion:Ida&limit=3&cursor=x",
    );
    expect(await listed.json()).toEqual({ data: [memory], next_cursor: "c" });
    const found = { data: [{ ...memory, score: 0.5 }], next_cursor: null };
    expect(await (await app.request("/v1/memories?q=quiet+rows&limit=2")).json()).toEqual(found);
    expect(
      await (
        await app.request("/v1/memories/search", json("POST", { query: "quiet rows", subject: "self", as_of: "2026-01-01T01:00:00+01:00" }))
      ).json(),
    ).toEqual(found);
    const signal = expect.any(AbortSignal) as AbortSignal;
    expect(calls).toEqual([
      [
        "list",
        OWNER,
        {
          category: "seating",
          type: "preference",
          status: "superseded",
          as_of: "2026-01-01T00:00:00.000Z",
          includeSuperseded: true,
          subject: "companion:Ida",
          limit: 3,
          cursor: "x",
          signal,
        },
      ],
      ["search", OWNER, { text: "quiet rows", limit: 2, signal }],
      ["search", OWNER, { text: "quiet rows", subject: "self", as_of: "2026-01-01T00:00:00.000Z", signal }],
    ]);
    const nobody = await app.request("/v1/memories?subject=Ida");
    expect([nobody.status, await nobody.json()]).toMatchObject([400, { errors: [{ pointer: "/query/subject" }] }]);
  });

  test("stated by hand: what is said is handed on as it is; a key makes a retry harmless, and is the owner's own", async () => {
    const { calls, script } = recording("memories", { add: memory });
    const app = await appOver(fakeApplication(script));
    const add = (body: object, headers = {}) => app.request("/v1/memories", json("POST", body, headers));
    expect(
      (
        await add(
          {
            text: "No nuts",
            strength: "hard",
            category: "dietary",
            subject: "companion:Ida",
            scope: "trip",
            valid_until: "2026-05-01",
          },
          { "X-Timezone": "Europe/Berlin" },
        )
      ).status,
    ).toBe(201);
    await add({ text: "Likes jazz" }, { "Idempotency-Key": "k" });
    await add({ text: "Likes jazz" }, { "Idempotency-Key": "k" });
    await add({ text: "Likes jazz" }, { "Idempotency-Key": "k", "X-User-Id": "bo" });
    expect(calls[0]).toEqual([
      "add",
      OWNER,
      {
        text: "No nuts",
        category: "dietary",
        strength: "hard",
        subject: "companion:Ida",
        scope: "trip",
        valid_until: "2026-05-01",
      },
      { now: NOW, timeZone: "Europe/Berlin" },
    ]);
    const requests = calls.slice(1).map((call) => (call[3] as { request?: RequestKey }).request);
    expect(requests.map((request) => request?.key)).toEqual(["k", "k", "k"]);
    expect(requests[0]?.requestHash).toMatch(/^[0-9a-f]{64}$/);
    expect(requests[1]?.requestHash).toBe(requests[0]?.requestHash);
    expect(calls[3]?.[1]).not.toBe(OWNER);
    // What is left out is left to the memory, which knows its categories.
    expect(calls[1]?.[2]).toEqual({ text: "Likes jazz" });
  });

  test.each([
    [{}],
    [{ text: " " }],
    [{ text: "x".repeat(501) }],
    [{ text: "a", type: "rumour" }],
    [{ text: "a", subject: "mother" }],
    [{ text: "a", valid_until: "soon" }],
    [{ text: "a", strength: "very" }],
  ])("the memory %j is 400", async (body) => {
    expect((await (await appOver(fakeApplication())).request("/v1/memories", json("POST", body))).status).toBe(400);
  });

  test("read, edited, approved, forgotten, with its history", async () => {
    const event = { at: AT, event: "added", text: "a", memory_id: MEMORY_ID };
    const { calls, script } = recording("memories", {
      ...{ get: memory, patch: memory, approve: memory, reject: memory, forget: [memory], history: [event] },
    });
    const app = await appOver(fakeApplication(script));
    const at = `/v1/memories/${MEMORY_ID}`;
    expect(await (await app.request(at)).json()).toEqual(memory);
    expect((await app.request(at, json("PATCH", { text: "Else", valid_until: null }))).status).toBe(200);
    expect((await app.request(`${at}/approve`, { method: "POST" })).status).toBe(200);
    expect(await (await app.request(`${at}/reject`, { method: "POST" })).json()).toEqual(memory);
    expect((await app.request(at, { method: "DELETE" })).status).toBe(204);
    expect(await (await app.request(`${at}/history`)).json()).toEqual({ data: [event], next_cursor: null });
    expect(calls.slice(1)).toEqual([
      ["patch", OWNER, MEMORY_ID, { text: "Else", valid_until: null }, { now: NOW }],
      ["approve", OWNER, MEMORY_ID, { now: NOW }],
      ["reject", OWNER, MEMORY_ID, { now: NOW }],
      ["forget", OWNER, MEMORY_ID, { now: NOW }],
      ["history", OWNER, MEMORY_ID],
    ]);
  });

  test("all are forgotten only when it is confirmed", async () => {
    const { calls, script } = recording("memories", { forgetAll: 4 });
    const app = await appOver(fakeApplication(script));
    for (const query of ["", "?confirm=false"]) {
      const refused = await app.request(`/v1/memories${query}`, { method: "DELETE" });
      expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([400, "CONFIRMATION_REQUIRED"]);
    }
    expect(await (await app.request("/v1/memories?confirm=true", { method: "DELETE" })).json()).toEqual({ forgotten: 4 });
    expect(calls).toHaveLength(1);
  });

  test("[why-exact] why gives the user's own words; null once they are gone; no source for what was added by hand", async () => {
    const words = "I  like\tthe quiet rows — ‘à l’arrière’ 😀\n";
    const message = (id: string, content: string) => ({ id, turn: 1, role: "user" as const, content, created_at: AT, metadata: {} });
    const app = await appOver(
      fakeApplication({
        memories: {
          get: async (_owner, id) =>
            sampleMemory({
              id,
              ...(id.endsWith("1")
                ? { source: null }
                : id.endsWith("2")
                  ? { source: { session_id: MESSAGE_ID, turn: 1, message_id: "gone", quote: "" } }
                  : {}),
            }),
        },
        sessions: {
          async message(_owner, id, messageId) {
            if (id !== SESSION_ID) throw new AppError("SESSION_NOT_FOUND");
            return messageId === MESSAGE_ID ? message(MESSAGE_ID, words) : null;
          },
        },
      }),
    );
    const why = async (id: string) => ((await (await app.request(`/v1/memories/${id}/why`)).json()) as { source: unknown }).source;
    expect(await why(MEMORY_ID)).toEqual({ ...memory.source, message: words });
    expect(await why(MEMORY_ID.replace(/.$/, "1"))).toBeNull();
    expect(await why(MEMORY_ID.replace(/.$/, "2"))).toMatchObject({ message: null });
  });

  test("off is 409, out of reach 503 with Retry-After, somebody else's 404", async () => {
    for (const [code, status] of [
      ["LONG_TERM_MEMORY_DISABLED", 409],
      ["LONG_TERM_MEMORY_UNAVAILABLE", 503],
      ["MEMORY_NOT_FOUND", 404],
    ] as const) {
      const app = await appOver(fakeApplication({ memories: { get: () => Promise.reject(new AppError(code)) } }));
      const response = await app.request(`/v1/memories/${MEMORY_ID}`);
      expect([response.status, response.headers.get("Retry-After")]).toEqual([status, status === 503 ? "5" : null]);
    }
  });
});

describe("history", () => {
  test("searched by POST and by GET with the same meaning", async () => {
    const { calls, script } = recording("history", { search: [] });
    const app = await appOver(fakeApplication(script));
    const fields = { limit: 5, session_id: SESSION_ID, from: "2026-01-01", to: "2026-02-01", role: "user", context: 1 };
    expect(await (await app.request("/v1/history/search", json("POST", { query: "the place", ...fields }))).json()).toEqual({
      data: [],
      next_cursor: null,
    });
    const query = new URLSearchParams({
      q: "the place",
      ...Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)])),
    });
    await app.request(`/v1/history/search?${query}`);
    const expected = {
      query: "the place",
      limit: 5,
      session_id: SESSION_ID,
      from: "2026-01-01T00:00:00.000Z",
      to: "2026-02-01T00:00:00.000Z",
      role: "user",
      context: 1,
      now: NOW,
      signal: expect.any(AbortSignal) as AbortSignal,
    };
    expect(calls).toEqual([
      ["search", OWNER, expected],
      ["search", OWNER, expected],
    ]);
  });

  test.each(["", "q=", "q=a&context=11", "q=a&from=yesterday", "q=a&role=robot", "q=a&session_id=x"])(
    "the query %j is 400",
    async (query) => {
      expect((await (await appOver(fakeApplication())).request(`/v1/history/search?${query}`)).status).toBe(400);
    },
  );
});

describe("import", () => {
  const importing = async (seen: unknown[] = []) =>
    appOver(
      fakeApplication({
        imports: {
          async import(owner, body, { format, extract }) {
            const decoder = new TextDecoder();
            let text = "";
            for await (const chunk of body) if (text.length < 100) text += decoder.decode(chunk, { stream: true });
            seen.push([owner, text, format, extract]);
            return { sessions: 1, messages: 2, skipped_duplicates: 3 };
          },
        },
      }),
    );

  test("JSON lines and an export are handed on as they come, with their format", async () => {
    const seen: unknown[] = [];
    const app = await importing(seen);
    const send = (body: string, type: string, query = "") =>
      app.request(`/v1/import${query}`, { method: "POST", body, headers: { "Content-Type": type } });
    expect(await (await send('{"a":1}\n', "application/x-ndjson; charset=utf-8", "?extract=true")).json()).toEqual({
      sessions: 1,
      messages: 2,
      skipped_duplicates: 3,
    });
    expect((await send("{", "application/json")).status).toBe(200);
    expect((await send("a", "text/csv")).status).toBe(415);
    expect(seen).toEqual([
      [OWNER, '{"a":1}\n', "ndjson", true],
      [OWNER, "{", "export", false],
    ]);
  });

  test("a bad line is 400 with its number", async () => {
    const app = await appOver(
      fakeApplication({
        imports: {
          import: () =>
            Promise.reject(
              new AppError("INVALID_IMPORT", { detail: "Line 3: role is missing.", errors: [{ pointer: "/3/role", detail: "missing" }] }),
            ),
        },
      }),
    );
    const response = await app.request("/v1/import", { method: "POST", body: "x", headers: { "Content-Type": "application/x-ndjson" } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: "INVALID_IMPORT",
      detail: "Line 3: role is missing.",
      errors: [{ pointer: "/3/role" }],
    });
  });

  test("more than 64 MiB is 413: by its declared length at once, else when it is reached", async () => {
    const app = await importing();
    const headers = { "Content-Type": "application/x-ndjson" };
    const declared = await app.request("/v1/import", {
      method: "POST",
      body: "x",
      headers: { ...headers, "Content-Length": String(MAX_IMPORT_BYTES + 1) },
    });
    expect(declared.status).toBe(413);
    const chunk = new Uint8Array(1024 * 1024).fill(0x20);
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        controller.enqueue(chunk);
      },
    });
    const init: RequestInit & { duplex: "half" } = { method: "POST", body: endless, headers, duplex: "half" };
    expect((await app.request("/v1/import", init)).status).toBe(413);
    expect(sent).toBeLessThan(70);
  });
});

describe("privacy and operations", () => {
  test("an export is streamed, one chunk ahead of nobody", async () => {
    let made = 0;
    let ended = false;
    const app = await appOver(
      fakeApplication({
        privacy: {
          async *export(owner, { by }) {
            try {
              for (made = 1; made <= 1000; made += 1) yield `${owner} ${by} ${made}\n`;
            } finally {
              ended = true;
            }
          },
        },
      }),
    );
    const response = await app.request("/v1/me/export");
    expect(response.headers.get("Content-Disposition")).toContain("attachment");
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    const reader = response.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(`${OWNER} user 1\n`);
    expect(made).toBeLessThan(4);
    await reader?.cancel();
    expect(ended).toBe(true);
  });

  test("an export that can't begin is a problem, one that breaks later doesn't end as if it were whole", async () => {
    const failing = (after: number) =>
      appOver(
        fakeApplication({
          privacy: {
            async *export() {
              for (let n = 0; n < after; n += 1) yield "x";
              throw new AppError("STORAGE_UNAVAILABLE");
            },
          },
        }),
      );
    expect((await (await failing(0)).request("/v1/me/export")).status).toBe(503);
    const broken = await (await failing(2)).request("/v1/me/export");
    await expect(broken.text()).rejects.toThrow();
  });

  test("erasure wants a confirmation and gives the receipt, residue and all", async () => {
    const receipt = { receipt_id: "r", completed_at: AT, erased: { sessions: 2 }, verified: false, residue: { history: 1 } };
    const app = await appOver(fakeApplication({ privacy: { erase: async () => receipt } }));
    expect((await app.request("/v1/me", { method: "DELETE" })).status).toBe(400);
    const response = await app.request("/v1/me?confirm=true", { method: "DELETE" });
    expect([response.status, await response.json()]).toEqual([200, receipt]);
  });

  test("an erasure that takes longer than a request says that it goes on, and when to ask again", async () => {
    const asked: unknown[] = [];
    const erase = async (_: unknown, { waitMs, signal }: { readonly waitMs?: number; readonly signal?: AbortSignal }) => {
      asked.push(waitMs, signal instanceof AbortSignal);
      throw new AppError("ERASURE_UNDER_WAY", { retryAfterSeconds: 1 });
    };
    const response = await (await appOver(fakeApplication({ privacy: { erase } }))).request("/v1/me?confirm=true", { method: "DELETE" });
    expect([response.status, response.headers.get("Retry-After")]).toEqual([503, "1"]);
    expect(await response.json()).toMatchObject({ code: "ERASURE_UNDER_WAY" });
    expect(asked).toEqual([20_000, true]);
  });

  test("[owner-isolation] bookings are the caller's own, as the domain records them", async () => {
    const records = async (owner: string) => [{ reference: "M-1", owner }];
    const response = await (await appOver(fakeApplication({ privacy: { records } }))).request("/v1/me/bookings");
    expect(await response.json()).toEqual({ data: [{ reference: "M-1", owner: OWNER }], next_cursor: null });
    expect(response.headers.get("Cache-Control")).toBe("no-store");
  });

  test("who am I, and what does the server run on; where things are is told in local mode only", async () => {
    const user = async () => ({ displayName: "Ada", provider: "local", timeZone: "Europe/Rome", firstSeenAt: AT, lastSeenAt: AT });
    const local = (await (await (await appOver(fakeApplication({ user }))).request("/v1/me")).json()) as { server: object; user: object };
    expect(local.user).toEqual({
      tenant: "default",
      id: "local-user",
      display_name: "Ada",
      provider: "local",
      time_zone: "Europe/Rome",
      first_seen_at: AT,
      last_seen_at: AT,
    });
    expect(local.server).toMatchObject({
      model: { name: "scripted", stand_in: true },
      long_term: { enabled: true, location: "local (vectors.db)" },
      storage_dir: "/nowhere",
      keys: { OPENAI_API_KEY: false },
    });
    const remote = await appOver(fakeApplication({ user }), { config: { AUTH_MODE: "header" } });
    const text = await (await remote.request("/v1/me", { headers: { "X-MS-CLIENT-PRINCIPAL-ID": "ada" } })).text();
    expect(JSON.parse(text)).toMatchObject({ server: { long_term: { enabled: true, location: null }, storage_dir: null, keys: null } });
    expect(text).not.toContain("vectors.db");
  });

  test("readyz tells each part, 503 when down, and to strangers without details", async () => {
    const parts = { vectors: { status: "down" as const, detail: "refused at 10.0.0.7" } };
    const readiness = async () => ({ status: "down" as const, parts });
    const response = await (await appOver(fakeApplication({ readiness }))).request("/readyz");
    expect([response.status, await response.json()]).toEqual([503, { status: "down", parts }]);
    const remote = await (await appOver(fakeApplication({ readiness }), { config: { AUTH_MODE: "header" } })).request("/readyz");
    expect(await remote.json()).toEqual({ status: "down", parts: { vectors: { status: "down" } } });
    expect(await (await (await appOver(fakeApplication())).request("/healthz")).json()).toEqual({ status: "ok" });
  });
});

describe("rate limit", () => {
  test("[limits-hold] counts each user alone, tells what is left, and refuses with 429 and Retry-After", async () => {
    const app = await appOver(fakeApplication({ user: async () => null }), { config: { RATE_LIMIT_PER_MINUTE: 2 } });
    const as = (user: string) => app.request("/v1/me", { headers: { "X-User-Id": user } });
    const first = await as("ada");
    expect([first.headers.get("RateLimit-Limit"), first.headers.get("RateLimit-Remaining"), first.headers.get("RateLimit-Reset")]).toEqual([
      "2",
      "1",
      "60",
    ]);
    expect((await as("user:ada")).headers.get("RateLimit-Remaining")).toBe("0");
    const refused = await as("ada");
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ code: "RATE_LIMITED" });
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect(refused.headers.get("RateLimit-Remaining")).toBe("0");
    expect((await as("bo")).status).toBe(200);
    expect((await app.request("/healthz")).headers.get("RateLimit-Limit")).toBeNull();
  });
});
