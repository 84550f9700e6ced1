import { describe, expect, test } from "vitest";
import { AppError, type ErrorCode } from "../../src/platform/errors.js";
import { answeringApplication } from "../support/answering-application.js";
import { type ApiDocument, DescribedAnswers, operationsOf } from "../support/described-answers.js";
import { fakeApplication, type Script } from "../support/fake-application.js";
import { type AppOptions, appOver, json } from "../support/http-client.js";
import { SESSION_ID, sampleAnswer } from "../support/samples.js";

const document = (await (await (await appOver(fakeApplication())).request("/openapi.json")).json()) as ApiDocument;
const described = new DescribedAnswers(document);

function operationOf(operationId: string) {
  const found = operationsOf(document).find(({ operation }) => operation.operationId === operationId);
  if (found === undefined) throw new Error(`there is no ${operationId}`);
  return found.operation;
}

const fails = (code: ErrorCode) => async () => {
  throw new AppError(code);
};

interface Asked {
  readonly operationId: string;
  readonly path: string;
  readonly init?: RequestInit;
  readonly script?: Script;
  readonly options?: AppOptions;
  readonly status: number;
}

const chat = { operationId: "chat", path: "/v1/chat", init: json("POST", { message: "Good evening." }) };
const streamed = { ...chat, init: json("POST", { message: "Good evening.", stream: true }) };
const list = { operationId: "listSessions", path: "/v1/sessions" };
const keyed = json("POST", { message: "Good evening." }, { "Idempotency-Key": "k" });

/** What is answered in these cases, as far as generated requests don't meet it. */
const CASES: Readonly<Record<string, Asked>> = {
  "nobody signed in": { ...list, options: { config: { AUTH_MODE: "header" } }, status: 401 },
  "another site": { ...list, init: { headers: { Origin: "https://example.org" } }, status: 403 },
  "another type of body": { ...chat, init: { method: "POST", body: "a=b", headers: { "Content-Type": "text/plain" } }, status: 415 },
  "a body that is too large": { ...chat, init: json("POST", { message: "x".repeat(300_000) }), status: 413 },
  "an answer that is not taken": { ...list, init: { headers: { Accept: "text/html" } }, status: 406 },
  "a key of another request": { ...chat, init: keyed, script: { chat: { chat: fails("IDEMPOTENCY_KEY_REUSED") } }, status: 422 },
  "a key whose request runs": { ...chat, init: keyed, script: { chat: { chat: fails("IDEMPOTENCY_IN_PROGRESS") } }, status: 409 },
  "a day's tokens used up": { ...chat, script: { chat: { chat: fails("COST_LIMIT_REACHED") } }, status: 429 },
  "no model": { ...chat, script: { chat: { chat: fails("MODEL_UNAVAILABLE") } }, status: 502 },
  "a storage that is down": { ...chat, script: { chat: { chat: fails("STORAGE_UNAVAILABLE") } }, status: 503 },
  "a model that is late": { ...chat, script: { chat: { chat: fails("MODEL_TIMEOUT") } }, status: 504 },
  "a failure of our own": { ...chat, script: { chat: { chat: () => Promise.reject(new Error("oh")) } }, status: 500 },
  "a stop": { ...list, script: { sessions: { list: fails("SHUTTING_DOWN") } }, status: 503 },
  "memory that is off": {
    operationId: "searchMemories",
    path: "/v1/memories/search",
    init: json("POST", { query: "jazz" }),
    script: { memories: { search: fails("LONG_TERM_MEMORY_DISABLED") } },
    status: 409,
  },
  "a server that is not ready": {
    operationId: "checkReadiness",
    path: "/readyz",
    script: { readiness: async () => ({ status: "down", parts: { journal: { status: "down" } } }) },
    status: 503,
  },
  "an answer that is given again": {
    ...chat,
    init: keyed,
    script: {
      chat: {
        chat: async ({ idempotency }) => {
          idempotency?.onReplay?.();
          return sampleAnswer();
        },
      },
    },
    status: 200,
  },
  "a stream": {
    ...streamed,
    script: {
      chat: {
        chat: async (_request, options) => {
          const answer = sampleAnswer();
          const step = { id: "s", type: "tool_call" as const, name: "search", input: {}, output: [], duration_ms: 1, error: null };
          await options?.onEvent?.({ type: "session", session_id: SESSION_ID, turn: 1, user_message_id: SESSION_ID, created: true });
          await options?.onEvent?.({ type: "memory", memory: answer.memory });
          await options?.onEvent?.({ type: "step", step });
          await options?.onEvent?.({ type: "token", delta: "Good" });
          await options?.onEvent?.({ type: "retract", content: "" });
          return answer;
        },
      },
    },
    status: 200,
  },
  "a stream that fails": {
    ...streamed,
    script: {
      chat: {
        chat: async (_request, options) => {
          await options?.onEvent?.({ type: "memory", memory: sampleAnswer().memory });
          throw new AppError("MODEL_TIMEOUT");
        },
      },
    },
    status: 200,
  },
};

describe("what is answered is as /openapi.json says", () => {
  test.each(Object.entries(CASES))("%s", async (_name, { operationId, path, init, script, options, status }) => {
    const application = script === undefined ? answeringApplication() : fakeApplication(script);
    const response = await (await appOver(application, options)).request(path, init);
    expect(response.status).toBe(status);
    expect(described.complaints(operationOf(operationId), response, await response.text())).toEqual([]);
  });

  test("too many requests in a minute", async () => {
    const app = await appOver(answeringApplication(), { config: { RATE_LIMIT_PER_MINUTE: 1 } });
    for (const status of [200, 429]) {
      const response = await app.request("/v1/sessions");
      expect([response.status, response.headers.get("RateLimit-Remaining")]).toEqual([status, "0"]);
      expect(described.complaints(operationOf("listSessions"), response, await response.text())).toEqual([]);
    }
  });

  test("and what is not is told: a status, a header, a type, a code, a field, an event", () => {
    const told = (operationId: string, body: string, init: ResponseInit) =>
      described
        .complaints(operationOf(operationId), new Response(body === "" ? null : body, init), body)
        .map((complaint) => complaint.split(":")[0]);
    const problem = { type: "t", title: "t", status: 400, code: "SESSION_BUSY", detail: "d", hint: "h", request_id: "r", errors: [] };
    const as = (type: string, status: number, more: Record<string, string> = {}) => ({
      status,
      headers: { "Content-Type": type, ...more },
    });
    expect(told("getMe", "", { status: 418 })).toEqual(["status 418 is not described"]);
    expect(told("deleteSession", "", { status: 204, headers: { Location: "/" } })).toEqual(["the header location is not described"]);
    expect(told("getMe", "{}", as("text/html", 200))).toEqual(["the content type text/html is not described"]);
    expect(told("getMe", JSON.stringify(problem), as("application/problem+json", 400))).toEqual(["the code SESSION_BUSY is not listed"]);
    expect(told("flushSession", '{"pending_turns":"1"}', as("application/json", 200))).toEqual(["the body"]);
    expect(told("chat", 'id: 1\nevent: token\ndata: {"text":"x"}\n\n', as("text/event-stream", 200))).toEqual(["the event token"]);
  });
});
