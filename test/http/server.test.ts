import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { listen, type RunningServer } from "../../src/http/server.js";
import { AppError } from "../../src/platform/errors.js";
import type { Application } from "../../src/ports/application.js";
import { fakeApplication } from "../support/fake-application.js";
import { appOver, json, parseEvents } from "../support/http-client.js";
import { MESSAGE_ID, SESSION_ID, sampleAnswer } from "../support/samples.js";

let server: RunningServer;
afterEach(() => server.close({ graceMs: 0 }));

async function serve(application: Application): Promise<string> {
  server = await listen(await appOver(application), { host: "127.0.0.1", port: 0 });
  return server.address.url;
}

/** Sends bytes as they are and resolves to all that comes back until the server closes. */
function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.address.port, "127.0.0.1", () => socket.write(text));
    let answer = "";
    socket.on("data", (chunk: Buffer) => {
      answer += chunk.toString();
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
  });
}

/** A promise with its resolver beside it. */
function gate(): { readonly opened: Promise<void>; open: () => void } {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe("the server", () => {
  test("binds where it is told, and says where", async () => {
    const url = await serve(fakeApplication());
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  test("a port that is taken is an error, not a crash", async () => {
    await serve(fakeApplication());
    await expect(listen(await appOver(fakeApplication()), { host: "127.0.0.1", port: server.address.port })).rejects.toMatchObject({
      code: "EADDRINUSE",
    });
  });

  test("a stop finishes what is in flight and takes nothing new [stop-graceful]", async () => {
    const began = gate();
    const finish = gate();
    const url = await serve(
      fakeApplication({
        chat: {
          async chat() {
            began.open();
            await finish.opened;
            return sampleAnswer();
          },
        },
      }),
    );
    const answer = fetch(`${url}/v1/chat`, json("POST", { message: "a" }));
    await began.opened;
    const closed = server.close({ graceMs: 10_000 });
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
    finish.open();
    expect((await answer).status).toBe(200);
    await closed;
  });

  test("a stop breaks off what outlasts the grace, and the turn is told", async () => {
    const began = gate();
    const aborted = gate();
    const url = await serve(
      fakeApplication({
        chat: {
          chat: (_request, options) =>
            new Promise((_resolve, reject) => {
              options?.signal?.addEventListener("abort", () => {
                aborted.open();
                reject(new AppError("CLIENT_CLOSED_REQUEST"));
              });
              began.open();
            }),
        },
      }),
    );
    const answer = fetch(`${url}/v1/chat`, json("POST", { message: "a" })).catch((error: unknown) => error);
    await began.opened;
    await server.close({ graceMs: 0 });
    expect(await answer).toBeInstanceOf(Error);
    await aborted.opened;
  });

  test.each([false, true])("a client that hangs up aborts its turn (streamed: %s)", async (stream) => {
    const began = gate();
    const aborted = gate();
    const url = await serve(
      fakeApplication({
        chat: {
          chat: (_request, options) =>
            new Promise((_resolve, reject) => {
              options?.signal?.addEventListener("abort", () => {
                aborted.open();
                reject(new AppError("CLIENT_CLOSED_REQUEST"));
              });
              void (async () => {
                await options?.onEvent?.({ type: "session", session_id: SESSION_ID, turn: 1, user_message_id: MESSAGE_ID, created: true });
                await options?.onEvent?.({ type: "memory", memory: sampleAnswer().memory });
                began.open();
              })();
            }),
        },
      }),
    );
    const client = new AbortController();
    const request = fetch(`${url}/v1/chat`, { ...json("POST", { message: "a", stream }), signal: client.signal });
    await began.opened;
    if (stream) await request;
    client.abort();
    await request.catch(() => {});
    await aborted.opened;
  });

  test("a stream reaches the client event by event", async () => {
    const next = gate();
    const url = await serve(
      fakeApplication({
        chat: {
          async chat(_request, options) {
            await options?.onEvent?.({ type: "session", session_id: SESSION_ID, turn: 1, user_message_id: MESSAGE_ID, created: true });
            await options?.onEvent?.({ type: "memory", memory: sampleAnswer().memory });
            await next.opened;
            return sampleAnswer();
          },
        },
      }),
    );
    const response = await fetch(`${url}/v1/chat`, json("POST", { message: "a", stream: true }));
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (parseEvents(text).length < 2) text += (await reader?.read())?.value ?? "";
    expect(parseEvents(text).map((event) => event.event)).toEqual(["session", "memory"]);
    next.open();
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) text += part.value;
    expect(parseEvents(text).at(-1)?.event).toBe("message");
  });

  test("[limits-hold] a hundred header fields pass, more are 431; more than 16 KiB of them too", async () => {
    const url = await serve(fakeApplication());
    const headers = (count: number) => Array.from({ length: count }, (_, n) => `X-${n}: v\r\n`).join("");
    const send = async (fields: string) =>
      (await raw(`GET /healthz HTTP/1.1\r\nHost: ${new URL(url).host}\r\nConnection: close\r\n${fields}\r\n`)).split("\r\n")[0];
    expect(await send(headers(98))).toContain("200");
    expect(await send(headers(99))).toContain("431");
    expect(await send(`X-Big: ${"x".repeat(17_000)}\r\n`)).toContain("431");
  });

  test.each([
    ["no Host", "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n"],
    ["a Host that is none", "GET /healthz HTTP/1.1\r\nHost: a b/c\r\nConnection: close\r\n\r\n"],
    ["no HTTP", "hello\r\n\r\n"],
    ["a path that climbs", "GET /..\\..\\etc/passwd HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"],
    ["two lengths", "POST /v1/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
    [
      "a length and chunks",
      "POST /v1/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["a header with NUL", "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\u0000b\r\nConnection: close\r\n\r\n"],
  ])("%s is 400", async (_name, text) => {
    await serve(fakeApplication());
    expect((await raw(text)).split("\r\n")[0]).toContain(" 400 ");
  });

  test("an absolute address of another host is refused like its Host header", async () => {
    await serve(fakeApplication());
    const answer = await raw("GET http://evil.example/healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    expect(answer.split("\r\n")[0]).toContain(" 403 ");
  });

  test("a body that is refused unread doesn't break the connection's next request", async () => {
    const url = await serve(fakeApplication());
    const big = await fetch(`${url}/v1/chat`, {
      method: "POST",
      body: "x".repeat(3_000_000),
      headers: { "Content-Type": "application/json" },
    });
    expect(big.status).toBe(413);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});
