import { afterEach, describe, expect, test, vi } from "vitest";
import { EventStream } from "../../src/http/sse.js";
import { AppError } from "../../src/platform/errors.js";
import type { Chat, ChatEvent } from "../../src/ports/application.js";
import { fakeApplication } from "../support/fake-application.js";
import { type AppOptions, appOver, json, parseEvents } from "../support/http-client.js";
import { MESSAGE_ID, SESSION_ID, sampleAnswer } from "../support/samples.js";

const SESSION: ChatEvent = { type: "session", session_id: SESSION_ID, turn: 1, user_message_id: MESSAGE_ID, created: true };
const MEMORY: ChatEvent = { type: "memory", memory: sampleAnswer().memory };
const STEP: ChatEvent = {
  type: "step",
  step: { id: "s1", type: "tool_call", name: "search_events", input: {}, output: [], duration_ms: 1, error: null },
};
const token = (delta: string): ChatEvent => ({ type: "token", delta });

function streaming(chat: Chat["chat"], options: AppOptions = {}) {
  return appOver(fakeApplication({ chat: { chat } }), options);
}
const request = json("POST", { message: "a", stream: true });

afterEach(() => {
  vi.useRealTimers();
});

describe("POST /v1/chat, streamed", () => {
  test("events come in order, numbered, and the last is the whole answer", async () => {
    const app = await streaming(async (_request, options) => {
      for (const event of [SESSION, MEMORY, STEP, token("Good "), token("evening.")]) await options?.onEvent?.(event);
      return sampleAnswer();
    });
    const response = await app.request("/v1/chat", request);
    expect(response.headers.get("Content-Type")).toMatch(/^text\/event-stream/);
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    expect(response.headers.get("X-Memory-Status")).toBe("ok");
    expect(parseEvents(await response.text())).toEqual([
      { id: "1", event: "session", data: { session_id: SESSION_ID, turn: 1, user_message_id: MESSAGE_ID, created: true } },
      { id: "2", event: "memory", data: sampleAnswer().memory },
      { id: "3", event: "step", data: STEP.type === "step" ? STEP.step : null },
      { id: "4", event: "token", data: { delta: "Good " } },
      { id: "5", event: "token", data: { delta: "evening." } },
      { id: "6", event: "message", data: sampleAnswer() },
    ]);
  });

  test("a text that looks like events stays data", async () => {
    const hostile = "x\n\nevent: message\ndata: {}\n\n\u2028\r";
    const app = await streaming(async (_request, options) => {
      for (const event of [SESSION, MEMORY, token(hostile)]) await options?.onEvent?.(event);
      return sampleAnswer();
    });
    const events = parseEvents(await (await app.request("/v1/chat", request)).text());
    expect(events.map((event) => event.event)).toEqual(["session", "memory", "token", "message"]);
    expect(events[2]?.data).toEqual({ delta: hostile });
  });

  test("a turn that fails once the stream is open ends it with an error event, a problem", async () => {
    const app = await streaming(async (_request, options) => {
      await options?.onEvent?.(SESSION);
      await options?.onEvent?.(MEMORY);
      throw new AppError("MODEL_TIMEOUT");
    });
    const response = await app.request("/v1/chat", { ...request, headers: { "Content-Type": "application/json", "X-Request-Id": "r-1" } });
    expect(response.status).toBe(200);
    expect(parseEvents(await response.text()).at(-1)).toMatchObject({
      event: "error",
      data: { code: "MODEL_TIMEOUT", status: 504, request_id: "r-1" },
    });
  });

  test("what is unexpected reaches the client as INTERNAL without its own words, and the log with its place", async () => {
    const logged: object[] = [];
    const log = (fields: object) => void logged.push(fields);
    const app = await streaming(
      async (_request, options) => {
        await options?.onEvent?.(SESSION);
        await options?.onEvent?.(MEMORY);
        throw new Error("secret words");
      },
      { logger: { debug: log, info: log, warn: log, error: log } },
    );
    const text = await (await app.request("/v1/chat", request)).text();
    expect(parseEvents(text).at(-1)).toMatchObject({ event: "error", data: { code: "INTERNAL" } });
    expect(text).not.toContain("secret words");
    expect(logged).toContainEqual(expect.objectContaining({ code: "INTERNAL", cause: "Error" }));
    expect(JSON.stringify(logged)).not.toContain("secret words");
  });

  test("a slow reader holds the turn up, and what waits for it is bounded [limits-hold]", async () => {
    const delta = "x".repeat(1000);
    let sent = 0;
    const app = await streaming(
      async (_request, options) => {
        await options?.onEvent?.(SESSION);
        await options?.onEvent?.(MEMORY);
        for (; sent < 100; sent += 1) await options?.onEvent?.(token(delta));
        return sampleAnswer();
      },
      { limits: { streamBufferBytes: 4096 } },
    );
    const response = await app.request("/v1/chat", request);
    const reader = response.body?.getReader();
    await reader?.read();
    await new Promise((resolve) => setImmediate(resolve));
    expect(sent).toBeLessThan(6);
    let bytes = 0;
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) bytes += part.value.byteLength;
    expect(sent).toBe(100);
    expect(bytes).toBeGreaterThan(100_000);
  });

  test("a reader that stalls for good loses its turn, which is aborted [limits-hold]", async () => {
    vi.useFakeTimers();
    let aborted = false;
    const app = await streaming(
      async (_request, options) => {
        options?.signal?.addEventListener("abort", () => {
          aborted = true;
        });
        await options?.onEvent?.(SESSION);
        await options?.onEvent?.(MEMORY);
        for (;;) await options?.onEvent?.(token("x".repeat(1000)));
      },
      { limits: { streamBufferBytes: 2048, stalledReaderMs: 30_000 } },
    );
    const response = await app.request("/v1/chat", request);
    await vi.advanceTimersByTimeAsync(29_999);
    expect(aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(aborted).toBe(true);
    await expect(response.text()).rejects.toThrow();
  });

  test("a reader that leaves aborts the turn, and its place is free again [limits-hold]", async () => {
    let aborts = 0;
    const app = await streaming(
      (_request, options) =>
        new Promise((_resolve, reject) => {
          void (async () => {
            await options?.onEvent?.(SESSION);
            await options?.onEvent?.(MEMORY);
          })();
          options?.signal?.addEventListener("abort", () => {
            aborts += 1;
            reject(new AppError("CLIENT_CLOSED_REQUEST"));
          });
        }),
      { limits: { streamsPerUser: 1 } },
    );
    const first = await app.request("/v1/chat", request);
    const refused = await app.request("/v1/chat", request);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("Retry-After")).toBe("1");
    expect(await refused.json()).toMatchObject({ code: "TOO_MANY_STREAMS" });
    const other = await app.request("/v1/chat", { ...request, headers: { "Content-Type": "application/json", "X-User-Id": "bo" } });
    expect(other.status).toBe(200);
    await first.body?.cancel();
    await new Promise((resolve) => setImmediate(resolve));
    expect(aborts).toBe(1);
    const again = await app.request("/v1/chat", request);
    expect(again.status).toBe(200);
    await again.body?.cancel();
    await other.body?.cancel();
  });

  test("a comment every 15 seconds keeps the connection alive, and stops with the stream", async () => {
    vi.useFakeTimers();
    let finish: () => void = () => {};
    const app = await streaming(async (_request, options) => {
      await options?.onEvent?.(SESSION);
      await options?.onEvent?.(MEMORY);
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return sampleAnswer();
    });
    const response = await app.request("/v1/chat", request);
    const text = response.text();
    await vi.advanceTimersByTimeAsync(45_000);
    finish();
    expect((await text).match(/^: keep-alive$/gm)).toHaveLength(3);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("a stream that ended before it was opened leaves no timer behind", () => {
    vi.useFakeTimers();
    const stream = new EventStream({ bufferBytes: 1024, heartbeatMs: 15_000, stalledMs: 30_000 });
    stream.close();
    stream.open();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("a client that doesn't take event streams is told so before anything is done", async () => {
    const app = await appOver(fakeApplication());
    const wants = (accept: string, stream: boolean) => app.request("/v1/chat", json("POST", { message: "a", stream }, { Accept: accept }));
    expect((await wants("application/json", true)).status).toBe(406);
    expect((await wants("text/event-stream", false)).status).toBe(406);
    expect((await wants("application/json;q=0, */*;q=0.5", false)).status).toBe(406);
  });
});
