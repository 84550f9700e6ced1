import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { AppError } from "../../src/platform/errors.js";
import type { ChatRequest } from "../../src/ports/application.js";
import { fakeApplication } from "../support/fake-application.js";
import { appOver, json } from "../support/http-client.js";
import { SESSION_ID, sampleAnswer } from "../support/samples.js";

async function chatApp(answer = sampleAnswer()) {
  const requests: ChatRequest[] = [];
  const app = await appOver(
    fakeApplication({
      chat: {
        async chat(request) {
          requests.push(request);
          return answer;
        },
      },
    }),
  );
  return { app, requests };
}

describe("POST /v1/chat, JSON", () => {
  test("a message becomes a turn of the caller, and the answer tells how memory did", async () => {
    const { app, requests } = await chatApp(
      sampleAnswer({ memory: { status: "timeout", write_back: "pending", to_confirm: [], recalled: [], used: [] } }),
    );
    const response = await app.request("/v1/chat", json("POST", { message: "Hello" }, { "X-User-Id": "ada", "X-Timezone": "Europe/Rome" }));
    expect(response.status).toBe(200);
    expect(response.headers.get("X-Memory-Status")).toBe("timeout");
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    expect(await response.json()).toEqual(
      sampleAnswer({ memory: { status: "timeout", write_back: "pending", to_confirm: [], recalled: [], used: [] } }),
    );
    expect(requests).toEqual([{ owner: "default:ada", message: "Hello", timeZone: "Europe/Rome" }]);
  });

  test("every field of the body reaches the turn; an object as page context becomes text; an own name of the session too", async () => {
    const { app, requests } = await chatApp();
    const body = {
      message: "And this one?",
      session_id: SESSION_ID,
      page_context: { event: { id: 7 } },
      metadata: { incognito: true },
      channel: "widget",
      edit_of: "m-1",
    };
    expect((await app.request("/v1/chat", json("POST", body))).status).toBe(200);
    expect(requests).toEqual([
      {
        owner: "default:local-user",
        message: "And this one?",
        sessionId: SESSION_ID,
        pageContext: '{"event":{"id":7}}',
        metadata: { incognito: true },
        channel: "widget",
        editOf: "m-1",
      },
    ]);
    await app.request("/v1/chat", json("POST", { message: "Hello", external_id: "trip" }));
    expect(requests[1]).toEqual({ owner: "default:local-user", message: "Hello", externalId: "trip" });
  });

  test.each(["user_id", "owner", "tenant"])("%s in the body is refused, and names nobody [identity-from-server]", async (name) => {
    const { app, requests } = await chatApp();
    const response = await app.request("/v1/chat", json("POST", { message: "Hello", [name]: "default:eve" }));
    expect([response.status, requests]).toEqual([400, []]);
  });

  test("a session is named by its id or by the own name, not by both", async () => {
    const { app, requests } = await chatApp();
    const response = await app.request("/v1/chat", json("POST", { message: "Hello", session_id: SESSION_ID, external_id: "trip" }));
    expect(await response.json()).toMatchObject({ status: 400, errors: [{ pointer: "/external_id" }] });
    expect(requests).toEqual([]);
  });

  test("the idempotency hash is that of what was asked, not of how it was written or how the answer travels", async () => {
    const { app, requests } = await chatApp();
    const send = (body: string) =>
      app.request("/v1/chat", { method: "POST", body, headers: { "Content-Type": "application/json", "Idempotency-Key": "k 1" } });
    await send('{"message":"Hi","channel":"web"}');
    await send('{ "channel": "web", "stream": false, "message": "H\\u0069" }');
    await send('{"message":"Hi!","channel":"web"}');
    const expected = createHash("sha256").update('{"channel":"web","message":"Hi"}').digest("hex");
    expect(requests.map((request) => request.idempotency?.key)).toEqual(["k 1", "k 1", "k 1"]);
    expect(requests[0]?.idempotency?.requestHash).toBe(expected);
    expect(requests[1]?.idempotency?.requestHash).toBe(expected);
    expect(requests[2]?.idempotency?.requestHash).not.toBe(expected);
  });

  const long = "😀".repeat(8000);
  test.each([
    ["one character", { message: "a" }],
    ["8,000 characters outside the basic plane", { message: long }],
    ["page context of exactly 16 KiB", { message: "a", page_context: "x".repeat(16 * 1024) }],
    ["keys that name parts of a prototype but are plain data", { message: "a", page_context: { constructor: "Ferrari", prototype: 1 } }],
  ])("accepts %s", async (_name, body) => {
    const { app } = await chatApp();
    expect((await app.request("/v1/chat", json("POST", body))).status).toBe(200);
  });

  test.each([
    ["no message", {}, "/message"],
    ["an empty message", { message: "" }, "/message"],
    ["a blank message", { message: " \n\t\u200b" }, "/message"],
    ["8,001 characters", { message: "x".repeat(8001) }, "/message"],
    ["a message that is not text", { message: 7 }, "/message"],
    ["page context over 16 KiB in UTF-8", { message: "a", page_context: "é".repeat(8193) }, "/page_context"],
    ["an array as page context", { message: "a", page_context: [] }, "/page_context"],
    ["a channel of two lines", { message: "a", channel: "a\r\nb" }, "/channel"],
    ["metadata over 16 KiB", { message: "a", metadata: { x: "y".repeat(17_000) } }, "/metadata"],
  ])("refuses %s with 400 and says where [limits-hold]", async (_name, body, pointer) => {
    const response = await (await appOver(fakeApplication())).request("/v1/chat", json("POST", body));
    expect(response.status).toBe(400);
    const problem = (await response.json()) as { code: string; errors: { pointer: string }[] };
    expect(problem.code).toBe("INVALID_REQUEST");
    expect(problem.errors.map((error) => error.pointer)).toContain(pointer);
  });

  test.each(["..", "../../etc/passwd", "CON", "a\u0000b", "x".repeat(10_000), "ＡＢＣ", SESSION_ID.toUpperCase(), "%2e%2e", ""])(
    "a session id that can't be one (%j) is 400 INVALID_SESSION_ID [hostile-input]",
    async (id) => {
      const response = await (await appOver(fakeApplication())).request("/v1/chat", json("POST", { message: "a", session_id: id }));
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ code: "INVALID_SESSION_ID" });
    },
  );

  test.each([
    ["an empty key", { "Idempotency-Key": "" }],
    ["a key of 256 characters", { "Idempotency-Key": "k".repeat(256) }],
    ["a key that is not ASCII", { "Idempotency-Key": "clé" }],
    ["an unknown time zone", { "X-Timezone": "Mars/Olympus" }],
    ["an offset as time zone", { "X-Timezone": "+01:00" }],
  ])("refuses %s with 400", async (_name, headers) => {
    const response = await (await appOver(fakeApplication())).request("/v1/chat", json("POST", { message: "a" }, headers));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "INVALID_REQUEST" });
  });

  test.each([
    ["SESSION_NOT_FOUND", 404],
    ["SESSION_NOT_ACTIVE", 409],
    ["SESSION_BUSY", 409],
    ["IDEMPOTENCY_KEY_REUSED", 422],
    ["MODEL_UNAVAILABLE", 502],
    ["STORAGE_UNAVAILABLE", 503],
    ["MODEL_TIMEOUT", 504],
  ] as const)("%s is answered as a problem with status %i, whether it was to be streamed or not", async (code, status) => {
    const app = await appOver(fakeApplication({ chat: { chat: () => Promise.reject(new AppError(code)) } }));
    for (const stream of [false, true]) {
      const response = await app.request("/v1/chat", json("POST", { message: "a", stream }));
      expect(response.status).toBe(status);
      expect(response.headers.get("Content-Type")).toBe("application/problem+json");
      expect(await response.json()).toMatchObject({ code, status });
      expect(response.headers.get("Retry-After")).toBe(status === 503 ? "5" : null);
    }
  });

  test("a client that goes away aborts the turn", async () => {
    const client = new AbortController();
    let aborted = false;
    const app = await appOver(
      fakeApplication({
        chat: {
          chat: (_request, options) =>
            new Promise((_resolve, reject) => {
              options?.signal?.addEventListener("abort", () => {
                aborted = true;
                reject(new AppError("CLIENT_CLOSED_REQUEST"));
              });
              client.abort();
            }),
        },
      }),
    );
    await app.request("/v1/chat", { ...json("POST", { message: "a" }), signal: client.signal });
    expect(aborted).toBe(true);
  });
});

describe("POST /v1/chat, a turn that fails", () => {
  const failing = (kept: boolean) =>
    appOver(
      fakeApplication({
        chat: {
          async chat(_request, options) {
            if (kept) await options?.onEvent?.({ type: "session", session_id: SESSION_ID, turn: 1, user_message_id: "m", created: true });
            throw new AppError("MODEL_UNAVAILABLE");
          },
        },
      }),
    );

  test.each([false, true])("tells which session holds its message (streamed: %s)", async (stream) => {
    const response = await (await failing(true)).request("/v1/chat", json("POST", { message: "Hello", stream }));
    expect([response.status, response.headers.get("X-Session-Id")]).toEqual([502, SESSION_ID]);
    expect(await response.json()).toMatchObject({
      code: "MODEL_UNAVAILABLE",
      session_id: SESSION_ID,
      hint: expect.stringMatching(/is kept.*`session_id`/),
    });
  });

  test("names none where nothing is kept", async () => {
    const response = await (await failing(false)).request("/v1/chat", json("POST", { message: "Hello" }));
    expect([response.headers.get("X-Session-Id"), await response.text()]).toEqual([null, expect.not.stringContaining("session_id")]);
  });
});
