import { Writable } from "node:stream";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { MAX_BODY_BYTES, MAX_CHAT_BODY_BYTES, MAX_JSON_DEPTH } from "../../src/http/body.js";
import { AppError } from "../../src/platform/errors.js";
import { fakeApplication } from "../support/fake-application.js";
import { appOver, json } from "../support/http-client.js";
import { SESSION_ID, sampleAnswer, sampleSession } from "../support/samples.js";

describe("problems", () => {
  test("a problem has every member of the contract, and the request's id in body and header", async () => {
    const app = await appOver(fakeApplication({ sessions: { get: () => Promise.reject(new AppError("SESSION_NOT_FOUND")) } }));
    const response = await app.request(`/v1/sessions/${SESSION_ID}`, { headers: { "X-Request-Id": "req-7" } });
    expect(response.status).toBe(404);
    expect(response.headers.get("Content-Type")).toBe("application/problem+json");
    expect(response.headers.get("X-Request-Id")).toBe("req-7");
    expect(await response.json()).toEqual({
      type: "urn:maitred:problem:session-not-found",
      title: "There is no such session",
      status: 404,
      code: "SESSION_NOT_FOUND",
      detail: "There is no such session",
      hint: "List your sessions with GET /v1/sessions.",
      request_id: "req-7",
      errors: [],
    });
  });

  test.each([
    ["POST", "/v1/chat", { message: "Hi", sessionId: SESSION_ID }, "sessionId", "session_id"],
    ["POST", "/v1/sessions", { titel: "Weekend" }, "titel", "title"],
    ["PATCH", `/v1/sessions/${SESSION_ID}`, { Tags: ["a"] }, "Tags", "tags"],
    ["POST", `/v1/sessions/${SESSION_ID}/fork`, { message_id: "m", messageID: "m" }, "messageID", "message_id"],
    ["POST", "/v1/memories", { text: "Likes jazz", validUntil: "2027-01-01" }, "validUntil", "valid_until"],
    ["PATCH", `/v1/memories/${SESSION_ID}`, { txt: "Likes jazz" }, "txt", "text"],
    ["POST", "/v1/memories/search", { query: "jazz", limt: 5 }, "limt", "limit"],
    ["POST", "/v1/history/search", { query: "jazz", contxt: 1 }, "contxt", "context"],
  ])("%s %s with %j is 400 UNKNOWN_FIELD, with the name that was meant", async (method, path, body, unknown, meant) => {
    const response = await (await appOver(fakeApplication())).request(path, json(method, body));
    expect(await response.json()).toMatchObject({
      status: 400,
      code: "UNKNOWN_FIELD",
      errors: [{ pointer: `/${unknown}`, detail: `there is no field \`${unknown}\` here; did you mean \`${meant}\`?` }],
    });
  });

  test("each unknown field is named; one that is near to none is told without a guess", async () => {
    const response = await (await appOver(fakeApplication())).request("/v1/chat", json("POST", { message: "Hi", chanel: "x", zzz: 1 }));
    expect(((await response.json()) as { errors: unknown }).errors).toEqual([
      { pointer: "/chanel", detail: "there is no field `chanel` here; did you mean `channel`?" },
      { pointer: "/zzz", detail: "there is no field `zzz` here" },
    ]);
  });

  test.each([`/v1/sessions/${SESSION_ID}/flush`, `/v1/sessions/${SESSION_ID}/restore`, `/v1/memories/${SESSION_ID}/approve`])(
    "%s takes no body, and says so rather than pass one over",
    async (path) => {
      const response = await (await appOver(fakeApplication())).request(path, json("POST", { timeout_ms: 10 }));
      expect(await response.json()).toMatchObject({ status: 400, code: "UNKNOWN_FIELD", errors: [{ pointer: "/timeout_ms" }] });
    },
  );

  test("a request id that could do harm is replaced", async () => {
    const app = await appOver(fakeApplication());
    const response = await app.request("/nowhere", { headers: { "X-Request-Id": "a b\u001b[31m" } });
    expect(response.headers.get("X-Request-Id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("what is unexpected is 500 INTERNAL, without a stack or its words", async () => {
    const app = await appOver(fakeApplication({ sessions: { get: () => Promise.reject(new Error("at secret.ts:7 private")) } }));
    const response = await app.request(`/v1/sessions/${SESSION_ID}`);
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ code: "INTERNAL", detail: "Something went wrong" });
    expect(text).not.toContain("secret.ts");
  });

  test.each([
    ["GET", "/v1/chat", "OPTIONS, POST"],
    ["PUT", `/v1/sessions/${SESSION_ID}`, "DELETE, GET, HEAD, OPTIONS, PATCH"],
    ["POST", "/healthz", "GET, HEAD, OPTIONS"],
    ["DELETE", "/", "GET, HEAD, OPTIONS"],
    ["BREW", "/v1/memories", "DELETE, GET, HEAD, OPTIONS, POST"],
  ])("%s %s is 405 with Allow", async (method, path, allow) => {
    const response = await (await appOver(fakeApplication())).request(path, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get("Allow")).toBe(allow);
    expect(await response.json()).toMatchObject({ code: "METHOD_NOT_ALLOWED" });
  });

  test("OPTIONS names the methods; an unknown path is 404, signed in or not", async () => {
    const app = await appOver(fakeApplication());
    const options = await app.request("/v1/chat", { method: "OPTIONS" });
    expect([options.status, options.headers.get("Allow")]).toEqual([204, "OPTIONS, POST"]);
    for (const path of ["/v2/chat", "/v1", "/v1/", "/v1/chat/", "/v1/nothing", "/assets/x/../../package.json"])
      expect((await app.request(path)).status).toBe(404);
    const closed = await appOver(fakeApplication(), { config: { AUTH_MODE: "header" } });
    expect((await closed.request("/v1/nothing")).status).toBe(404);
  });

  test("HEAD is GET without a body", async () => {
    const app = await appOver(fakeApplication({ sessions: { get: async () => sampleSession() } }));
    const response = await app.request(`/v1/sessions/${SESSION_ID}`, { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });

  test("who can't take the answer is refused before anything is done", async () => {
    const app = await appOver(fakeApplication());
    const response = await app.request("/v1/sessions", json("POST", {}, { Accept: "text/html" }));
    expect([response.status, response.headers.get("Location")]).toEqual([406, null]);
  });

  test("only JSON is answered: 406 for who can't take it", async () => {
    const app = await appOver(fakeApplication({ sessions: { get: async () => sampleSession() } }));
    const as = async (accept: string) => (await app.request(`/v1/sessions/${SESSION_ID}`, { headers: { Accept: accept } })).status;
    expect(await as("text/html")).toBe(406);
    expect(await as("application/json;q=0")).toBe(406);
    for (const accept of ["application/json", "application/*", "*/*", "text/html, */*;q=0.1", ""]) expect(await as(accept)).toBe(200);
  });
});

describe("bodies [hostile-input] [limits-hold]", () => {
  const post = async (body: string | Uint8Array, headers: Record<string, string> = { "Content-Type": "application/json" }) =>
    (await appOver(fakeApplication({ chat: { chat: async () => sampleAnswer() } }))).request("/v1/chat", { method: "POST", body, headers });
  const nested = (depth: number) => `{"message":"a","metadata":${'{"a":'.repeat(depth - 1)}1${"}".repeat(depth - 1)}}`;

  test.each([
    ["malformed JSON", '{"message":'],
    ["no JSON at all", "hello"],
    ["bytes that are not UTF-8", new Uint8Array([0x22, 0xff, 0x22])],
    ["half a surrogate pair", '{"message":"\\ud83d"}'],
    ["a key __proto__", '{"message":"a","metadata":{"__proto__":{"polluted":true}}}'],
    ["an array", "[]"],
    ["null", "null"],
    [`more than ${MAX_JSON_DEPTH} levels`, nested(MAX_JSON_DEPTH + 1)],
    ["a hundred thousand levels", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
    ["nothing", ""],
  ])("%s is 400", async (_name, body) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "INVALID_REQUEST" });
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  test(`${MAX_JSON_DEPTH} levels pass`, async () => {
    expect((await post(nested(MAX_JSON_DEPTH))).status).toBe(200);
  });

  test("a body over the limit is 413, whether its length is declared or not", async () => {
    const big = JSON.stringify({ message: "a", pad: "x".repeat(MAX_BODY_BYTES) });
    expect((await post(big)).status).toBe(413);
    expect((await post("{}", { "Content-Type": "application/json", "Content-Length": String(MAX_CHAT_BODY_BYTES + 1) })).status).toBe(413);
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(16_384).fill(0x20));
      },
    });
    const app = await appOver(fakeApplication());
    const init: RequestInit & { duplex: "half" } = {
      method: "POST",
      body: endless,
      headers: { "Content-Type": "application/json" },
      duplex: "half",
    };
    const response = await app.request("/v1/chat", init);
    expect(response.status).toBe(413);
    expect(pulled).toBeLessThan(25);
  });

  test.each(["text/plain", "application/xml", "application/jsonp", "application/x-ndjson"])("the content type %s is 415", async (type) => {
    expect((await post('{"message":"a"}', { "Content-Type": type })).status).toBe(415);
  });

  test("a charset beside application/json is accepted, a body that may be left out may be empty", async () => {
    expect((await post('{"message":"a"}', { "Content-Type": "application/json; charset=utf-8" })).status).toBe(200);
    const app = await appOver(fakeApplication({ sessions: { create: async () => sampleSession() } }));
    expect((await app.request("/v1/sessions", { method: "POST" })).status).toBe(201);
    expect((await app.request("/v1/sessions", { method: "POST", headers: { "Content-Type": "application/json" } })).status).toBe(201);
  });
});

describe("what is logged [no-text-in-logs]", () => {
  test("a line a request without path, query, header or body; control characters can't leave their string", async () => {
    const lines: string[] = [];
    const sink = new Writable({
      write(chunk: Buffer, _encoding, done) {
        lines.push(chunk.toString());
        done();
      },
    });
    const evil = new Error("x");
    evil.name = "E\r\n\u001b[31mforged";
    const app = await appOver(fakeApplication({ memories: { search: () => Promise.reject(evil) } }), { logger: pino(sink) });
    await app.request("/v1/memories?q=my%20secret%0d%0a%1b[31mforged", { headers: { "User-Agent": "secret agent" } });
    await app.request("/secret%0d%0aforged");
    await app.request("/v1/chat", json("POST", { message: 7, secret: "words" }));
    expect(lines).toHaveLength(4);
    for (const line of lines) {
      expect(["\r", "\n", "\u001b"].filter((control) => line.trimEnd().includes(control))).toEqual([]);
      expect(line).not.toContain("secret");
    }
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ code: "INTERNAL", msg: "request failed" });
    expect(JSON.parse(lines[1] ?? "")).toMatchObject({ method: "GET", route: "/v1/memories", status: 500, msg: "request" });
  });
});

describe("headers of every answer", () => {
  test("a strict policy for the page and the API alike", async () => {
    const app = await appOver(fakeApplication());
    for (const path of ["/", "/healthz", "/nowhere"]) {
      const { headers } = await app.request(path);
      const policy = headers.get("Content-Security-Policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).not.toContain("unsafe");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
      expect(headers.get("X-Frame-Options")).toBe("DENY");
      expect(headers.get("Referrer-Policy")).toBe("no-referrer");
      expect(headers.get("Strict-Transport-Security")).toBeNull();
    }
    const open = await appOver(fakeApplication(), { config: { AUTH_MODE: "header" } });
    expect((await open.request("/healthz")).headers.get("Strict-Transport-Security")).toContain("max-age");
  });

  test("the page has no inline script or style, and its files are served for good under their hash", async () => {
    const app = await appOver(fakeApplication());
    const page = await (await app.request("/")).text();
    expect(page).not.toMatch(/<script(?![^>]*\bsrc=)[^>]*>|<style|\sstyle=|\son\w+=/i);
    const addresses = [...page.matchAll(/"(\/assets\/[^"]+)"/g)].map((match) => match[1] ?? "");
    expect(addresses.length).toBeGreaterThan(2);
    const base = (addresses[0] ?? "").split("/").slice(0, 3).join("/");
    for (const address of addresses) {
      const response = await app.request(address);
      expect([address, response.status]).toEqual([address, 200]);
      expect(response.headers.get("Cache-Control")).toContain("immutable");
    }
    expect((await app.request("/assets/other/page.js")).status).toBe(404);
    expect((await app.request(`${base}/%2e%2e%2findex.html`)).status).toBe(404);
    expect((await app.request(`${base}/constructor`)).status).toBe(404);
  });
});
