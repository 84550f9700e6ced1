import { partsOf } from "../../src/domain/answer-part.js";
import { type Memory, statementSchema } from "../../src/domain/memory.js";
import type { Owner } from "../../src/domain/owner.js";
import type { Element, PlacedElements, Session } from "../../src/domain/session.js";
import { AppError } from "../../src/platform/errors.js";
import type { Application } from "../../src/ports/application.js";
import type { ChatAnswer, ThreadElement, ThreadStep } from "../../src/ports/resources.js";
import { fakeApplication, type Script } from "./fake-application.js";
import { AT, sampleAnswer, sampleMemory, sampleSession } from "./samples.js";

/** What the sample application answers to a message, beside echoing it. */
export interface SampleReply {
  readonly content: string;
  readonly elements?: readonly Element[];
  /** Where in the text the elements came. Default: before it. */
  readonly placed?: readonly PlacedElements[];
  /** Default: all that was recalled shaped the answer. */
  readonly used?: readonly string[];
  readonly steps?: ChatAnswer["steps"];
  readonly recalled?: ChatAnswer["memory"]["recalled"];
  readonly status?: ChatAnswer["memory"]["status"];
  /** A memory that the write-back of this turn brings. */
  readonly learns?: string;
  /** One that waits for the guest's word. */
  readonly waits?: string;
  readonly failsOnce?: AppError;
}

export interface SampleApplication {
  readonly application: Application;
  readonly keys: string[];
  /** Messages that came with a button's consent. */
  readonly consents: { readonly message: string; readonly consent: string }[];
  readonly memories: Map<string, Memory & { owner: Owner }>;
}

function uuid(n: number): string {
  return `01936b2e-7c00-7000-8000-${n.toString(16).padStart(12, "0")}`;
}

/** A small application in memory, with sessions and memories per owner, for tests of the page and of whole routes. */
export function sampleApplication(replyTo: (message: string) => SampleReply, more: Script = {}): SampleApplication {
  let count = 0x1000;
  const next = () => uuid(count++);
  const sessions = new Map<string, { owner: Owner; session: Session; steps: ThreadStep[]; elements: ThreadElement[]; learns: Memory[] }>();
  const memories = new Map<string, Memory & { owner: Owner }>();
  const keys: string[] = [];
  const consents: SampleApplication["consents"] = [];
  const failed = new Set<string>();

  const entryOf = (owner: Owner, id: string) => {
    const entry = sessions.get(id);
    if (!entry || entry.owner !== owner) throw new AppError("SESSION_NOT_FOUND");
    return entry;
  };
  const memoryOf = (owner: Owner, id: string) => {
    const memory = memories.get(id);
    if (!memory || memory.owner !== owner) throw new AppError("MEMORY_NOT_FOUND");
    return memory;
  };
  const shown = ({ owner: _owner, ...memory }: Memory & { owner: Owner }): Memory => memory;

  const application = fakeApplication({
    user: async () => null,
    // Nothing happens through other doors.
    events: {
      async follow(_scope, { signal }) {
        const next = async () => {
          await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
          return { done: true, value: undefined } as const;
        };
        return { from: "0", events: { [Symbol.asyncIterator]: () => ({ next }) } };
      },
    },
    readiness: async () => ({ status: "ok", parts: { journal: { status: "ok" } } }),
    chat: {
      async chat({ owner, message, sessionId, idempotency, consent }, options) {
        if (idempotency) keys.push(idempotency.key);
        if (consent !== undefined) consents.push({ message, consent });
        const reply = replyTo(message);
        const id = sessionId ?? next();
        if (!sessionId)
          sessions.set(id, {
            owner,
            session: sampleSession({ id, title: message.slice(0, 80), message_count: 0 }),
            steps: [],
            elements: [],
            learns: [],
          });
        const entry = entryOf(owner, id);
        const { content, elements = [], placed = [{ after: 0, elements: elements.map((each) => each.id) }] } = reply;
        const answer = sampleAnswer({
          session_id: id,
          parts: partsOf({ content, elements, placed }),
          message: { id: next(), role: "assistant", content: reply.content, created_at: AT },
          steps: reply.steps ?? [],
          elements,
          memory: {
            status: reply.status ?? "ok",
            write_back: "pending",
            to_confirm: [],
            recalled: reply.recalled ?? [],
            used: reply.used ?? (reply.recalled ?? []).map(({ id }) => id),
          },
        });
        await options?.onEvent?.({ type: "session", session_id: id, turn: 1, user_message_id: next(), created: !sessionId });
        await options?.onEvent?.({ type: "memory", memory: { ...answer.memory, used: [] } });
        for (const step of answer.steps) await options?.onEvent?.({ type: "step", step });
        for (const [index, part] of answer.parts.entries()) {
          if (part.type === "question") continue;
          if (part.type === "text") for (const word of part.text.split(/(?<= )/)) await options?.onEvent?.({ type: "token", delta: word });
          else
            await options?.onEvent?.({ type: "part", index, part, elements: elements.filter((each) => part.elements.includes(each.id)) });
        }
        if (reply.failsOnce && !failed.has(message)) {
          failed.add(message);
          throw reply.failsOnce;
        }
        const stepOf = (type: ThreadStep["type"], output: ThreadStep["output"], name?: string): ThreadStep => ({
          id: next(),
          type,
          output,
          created_at: AT,
          ...(name === undefined ? {} : { name }),
        });
        const said = { ...stepOf("assistant_message", reply.content), parts: answer.parts, memory: answer.memory };
        entry.steps.push(stepOf("user_message", message), ...answer.steps.map((step) => stepOf("tool_call", step.output, step.name)), said);
        entry.elements.push(...answer.elements.map((element) => ({ ...element, for_id: said.id })));
        const learn = (text: string, change: Partial<Memory>) => {
          const source = { session_id: id, turn: 1, message_id: uuid(0xbb), quote: text };
          entry.learns.push(sampleMemory({ id: next(), text, source, ...change }));
        };
        if (reply.learns) learn(reply.learns, {});
        if (reply.waits) learn(reply.waits, { status: "review", strength: "hard" });
        return answer;
      },
    },
    sessions: {
      create: async (owner, { title = null, metadata = {} }) => {
        const session = sampleSession({ id: next(), title, metadata });
        sessions.set(session.id, { owner, session, steps: [], elements: [], learns: [] });
        return session;
      },
      get: async (owner, id) => entryOf(owner, id).session,
      list: async (owner, { status = "active" }) => ({
        data: [...sessions.values()]
          .filter((entry) => entry.owner === owner && entry.session.status === status)
          .map((entry) => entry.session)
          .reverse(),
        nextCursor: null,
      }),
      patch: async (owner, id, patch) => {
        const entry = entryOf(owner, id);
        entry.session = { ...entry.session, ...patch };
        return entry.session;
      },
      delete: async (owner, id) => {
        const entry = entryOf(owner, id);
        entry.session = { ...entry.session, status: "deleted" };
      },
      restore: async (owner, id) => {
        const entry = entryOf(owner, id);
        entry.session = { ...entry.session, status: "active" };
        return entry.session;
      },
      thread: async (owner, id) => {
        const { session, steps, elements } = entryOf(owner, id);
        return { session, steps, elements };
      },
      message: async (owner, id, messageId) => {
        entryOf(owner, id);
        return { id: messageId, turn: 1, role: "user", content: "My own words, <b>as I said them</b>.", created_at: AT, metadata: {} };
      },
      flush: async (owner, id) => {
        const entry = entryOf(owner, id);
        for (const memory of entry.learns.splice(0)) memories.set(memory.id, { ...memory, owner });
        return { pending_turns: 0, failed_turns: 0 };
      },
    },
    memories: {
      list: async (owner, { status = "active", sessionId }) => ({
        data: [...memories.values()]
          .filter((memory) => memory.owner === owner && memory.status === status)
          .filter((memory) => sessionId === undefined || memory.source?.session_id === sessionId)
          .map(shown)
          .reverse(),
        nextCursor: null,
      }),
      search: async (owner, { text }) =>
        [...memories.values()]
          .filter((memory) => memory.owner === owner && memory.text.toLowerCase().includes(text.toLowerCase()))
          .map((memory) => ({ ...shown(memory), score: 1 })),
      add: async (owner, statement) => {
        const id = next();
        const { valid_from: from, ...said } = statementSchema.parse(statement);
        const memory = sampleMemory({ id, ...said, ...(from !== null && { valid_from: from }), source: null });
        memories.set(id, { ...memory, owner });
        return memory;
      },
      get: async (owner, id) => shown(memoryOf(owner, id)),
      patch: async (owner, id, patch) => {
        const memory = { ...memoryOf(owner, id), ...patch };
        memories.set(id, memory);
        return shown(memory);
      },
      approve: async (owner, id) => {
        const memory = { ...memoryOf(owner, id), status: "active" as const };
        memories.set(id, memory);
        return shown(memory);
      },
      reject: async (owner, id) => {
        const memory = { ...memoryOf(owner, id), status: "superseded" as const };
        memories.set(id, memory);
        return shown(memory);
      },
      forget: async (owner, id) => {
        const memory = memoryOf(owner, id);
        memories.delete(id);
        return [shown(memory)];
      },
    },
    ...more,
  });
  return { application, keys, consents, memories };
}
