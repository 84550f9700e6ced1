import { receiptBody, sealedReceipt } from "../../src/gate/booking-receipt.js";
import { verdictOf } from "../../src/gate/verdict.js";
import { AppError } from "../../src/platform/errors.js";
import type { Application } from "../../src/ports/application.js";
import type { Job, Operator } from "../../src/ports/operator.js";
import { answeringStudio } from "./answering-studio.js";
import { fakeApplication, fakeOperator } from "./fake-application.js";
import { AT, IMAGE_ID, MEMORY_ID, MESSAGE_ID, PNG, SESSION_ID, sampleAnswer, sampleMemory, sampleSession } from "./samples.js";

/** Answers every request of the API with something plausible: there is one session and one memory, all other ids are unknown. */
export function answeringApplication(): Application {
  const known = (id: string | undefined, only: string, code: "SESSION_NOT_FOUND" | "MEMORY_NOT_FOUND") => {
    if (id !== only) throw new AppError(code);
  };
  const session = async (_owner: unknown, id: string) => {
    known(id, SESSION_ID, "SESSION_NOT_FOUND");
    return sampleSession();
  };
  const memory = async (_owner: unknown, id: string) => {
    known(id, MEMORY_ID, "MEMORY_NOT_FOUND");
    return sampleMemory();
  };
  const element = { id: "e", type: "text", name: "Ref #1", content: "…", display: "side" as const };
  const step = { id: "s", type: "tool_call" as const, name: "search", input: {}, output: [1, null], duration_ms: 1, error: null };
  const recalled = {
    id: MEMORY_ID,
    text: "Likes it",
    category: "other",
    strength: "soft" as const,
    score: null,
    source: null,
    created_at: AT,
  };
  const sampleReceipt = sealedReceipt(
    { id: MESSAGE_ID, at: AT, session_id: SESSION_ID, turn: 1 },
    receiptBody({ tool: "book", line: "Jazz", verdict: verdictOf({ needs: [], along: [], unchecked: false, memoryOff: false }) }),
    null,
  );
  const sampleEvent = {
    id: MESSAGE_ID,
    type: "memory.superseded" as const,
    timestamp: AT,
    tenant: "default",
    user: "local-user",
    data: { memory_id: MEMORY_ID, strength: "soft" as const, superseded_by: null },
  };
  const merge = {
    merge_id: MESSAGE_ID,
    tenant: "default",
    from: "visitor",
    to: "ada",
    state: "merged",
    merged_at: AT,
    undo_until: AT,
  } as const;
  const merged = (id: string, state: "merged" | "undone") => {
    // Merges' ids are opaque: any short one is of a merge.
    if (id.length > 60) throw new AppError("MERGE_NOT_FOUND");
    return { ...merge, merge_id: id, state };
  };
  const message = {
    message_id: MESSAGE_ID,
    session_id: SESSION_ID,
    turn: 1,
    role: "user" as const,
    name: null,
    content: "words",
    created_at: AT,
  };
  return fakeApplication({
    user: async () => ({ displayName: null, provider: "local", timeZone: "Europe/Rome", firstSeenAt: AT, lastSeenAt: AT }),
    readiness: async () => ({ status: "degraded", parts: { model: { status: "ok" }, vectors: { status: "down", detail: "refused" } } }),
    chat: {
      async chat({ sessionId }, options) {
        if (sessionId !== undefined) known(sessionId, SESSION_ID, "SESSION_NOT_FOUND");
        const answer = sampleAnswer({
          steps: [step],
          elements: [element],
          memory: { status: "ok", write_back: "pending", to_confirm: [], recalled: [recalled], used: [recalled.id] },
        });
        await options?.onEvent?.({ type: "session", session_id: SESSION_ID, turn: 1, user_message_id: MESSAGE_ID, created: true });
        await options?.onEvent?.({ type: "memory", memory: answer.memory });
        return answer;
      },
      async resume() {
        throw new AppError("TOOL_CALL_NOT_WAITING");
      },
    },
    ownAgent: {
      addMessages: async ({ sessionId, messages }) => {
        known(sessionId, SESSION_ID, "SESSION_NOT_FOUND");
        return { messages: messages.map(() => MESSAGE_ID), write_back: "pending" };
      },
      context: async ({ sessionId = SESSION_ID }) => {
        known(sessionId, SESSION_ID, "SESSION_NOT_FOUND");
        const memory = { status: "ok" as const, recalled: [recalled], to_confirm: [] };
        return { text: "- Likes it", memory, history: [{ ...message, id: MESSAGE_ID, score: 0.4 }], summary: null, usage: { tokens: 4 } };
      },
    },
    sessions: {
      create: async () => sampleSession(),
      idOf: async () => sampleSession().id,
      findOrCreate: async () => ({ session: sampleSession(), created: true }),
      list: async () => ({ data: [sampleSession()], nextCursor: "c" }),
      get: session,
      patch: session,
      restore: session,
      fork: session,
      delete: async (owner, id) => void (await session(owner, id)),
      purge: async (owner, id) => void (await session(owner, id)),
      empty: async (owner, id) => void (await session(owner, id)),
      messages: async (owner, id) => {
        await session(owner, id);
        return { data: [{ id: MESSAGE_ID, turn: 1, role: "user", content: "words", created_at: AT, metadata: {} }], nextCursor: null };
      },
      message: async (owner, id, messageId) => {
        await session(owner, id);
        return { id: messageId, turn: 1, role: "user", content: "words", created_at: AT, metadata: {} };
      },
      thread: async (owner, id) => ({
        session: await session(owner, id),
        steps: [
          { id: MESSAGE_ID, type: "user_message", output: "words", created_at: AT },
          { id: "s", type: "tool_call", name: "search", input: {}, output: null, created_at: AT },
        ],
        elements: [{ ...element, for_id: MESSAGE_ID }],
      }),
      image: async (owner, id, imageId) => {
        await session(owner, id);
        if (imageId !== IMAGE_ID) throw new AppError("IMAGE_NOT_FOUND");
        return { mediaType: "image/png", data: PNG };
      },
      flush: async (owner, id) => (await session(owner, id)).write_back,
      retryWriteBack: async (owner, id) => (await session(owner, id)).write_back,
    },
    memories: {
      list: async () => ({ data: [sampleMemory(), sampleMemory({ source: null, valid_until: AT })], nextCursor: null }),
      search: async () => [{ ...sampleMemory(), score: 0.5 }],
      add: async () => sampleMemory({ source: null }),
      addAll: async (_owner, statements) => statements.map(() => ({ memory: sampleMemory({ source: null }) })),
      get: memory,
      patch: memory,
      approve: memory,
      reject: memory,
      forget: async (owner, id) => [await memory(owner, id)],
      forgetAll: async () => 2,
      history: async (owner, id) => {
        await memory(owner, id);
        return [{ at: AT, event: "added", text: "Likes it", memory_id: MEMORY_ID }];
      },
    },
    history: {
      search: async () => [{ ...message, id: MESSAGE_ID, score: 0.4, before: [{ ...message, position: 0, channel: "api" }], after: [] }],
    },
    identities: {
      merge: async ({ from, to, tenant = "default" }) => ({ ...merge, tenant, from, to }),
      undo: async (id) => merged(id, "undone"),
      get: async (id) => merged(id, "merged"),
    },
    imports: {
      async import(_owner, body) {
        let bytes = 0;
        for await (const chunk of body) bytes += chunk.byteLength;
        if (bytes % 2 === 1) throw new AppError("INVALID_IMPORT", { detail: "Line 1 is not JSON." });
        return { sessions: 1, messages: bytes, skipped_duplicates: 0 };
      },
    },
    events: {
      list: async () => ({ data: [sampleEvent], nextCursor: null }),
      undelivered: async () => ({ data: [{ event: sampleEvent, attempts: 8, error: "HTTP_500", dead_since: AT }], nextCursor: null }),
      deliverAgain: async (_tenant, id) => {
        if (![SESSION_ID, MEMORY_ID, MESSAGE_ID].includes(id)) throw new AppError("EVENT_NOT_FOUND");
      },
      follow: async (_scope, { after = MESSAGE_ID }) => ({
        from: after,
        events: (async function* () {
          yield sampleEvent;
        })(),
      }),
    },
    privacy: {
      records: async () => [{ id: "b", title: "Jazz", seats: 2 }],
      receipts: async () => [sampleReceipt],
      async *export() {
        yield `{"format":"maitred-export","version":1,"exported_at":"${AT}","user":null,`;
        yield '"sessions":[],"memories":[],"forgotten":[],"records":{},"receipts":[]}';
      },
      erase: async () => ({ receipt_id: "r", completed_at: AT, erased: { sessions: 1 }, verified: true }),
    },
  });
}

/** The same of an operator's requests: one job is known, by the session's id. */
export function answeringOperator(): Operator {
  const job: Job = {
    id: SESSION_ID,
    kind: "reindex",
    dry_run: false,
    state: "succeeded",
    started_at: AT,
    ended_at: AT,
    progress: { done: 2, total: 2 },
    result: { sessions: 2 },
    problem: null,
  };
  const known = async (id: string) => {
    if (id !== SESSION_ID) throw new AppError("JOB_NOT_FOUND");
    return job;
  };
  return fakeOperator({
    users: async () => ({ data: [{ tenant: "default", user: "ada", sessions: 1, last_active_at: AT }], nextCursor: null }),
    jobs: { start: async () => job, list: async () => [job], get: known, stop: known },
    studio: answeringStudio(),
  });
}
