import * as z from "zod/mini";
import { type Query, queryOf } from "../web/format.js";
import { Problem } from "../web/problems.js";

/**
 * What Studio asks of the server, and what it makes of the answers. All that is not there, or is not what it should be, is null: it is not
 * known.
 */

// Compiling schemas takes what the page's policy forbids.
z.config({ jitless: true });

const known = <S extends z.ZodMiniType>(schema: S) => z.catch(z.nullable(schema), null);
const listOf = <S extends z.ZodMiniType>(schema: S) => known(z.array(schema));
const text = known(z.string());
const number = known(z.number());
const flag = known(z.boolean());
const id = known(z.union([z.string(), z.pipe(z.number(), z.transform(String))]));
const anything = z.record(z.string(), z.unknown());
const counts = known(z.record(z.string(), number));
const pageOf = <S extends z.ZodMiniType>(schema: S) => z.object({ data: z.array(schema), next_cursor: text });

/** Fields of one kind, by their names. */
const each = <S extends z.ZodMiniType, N extends string>(schema: S, ...names: readonly N[]) =>
  Object.fromEntries(names.map((name) => [name, schema])) as Readonly<Record<N, S>>;
const texts = <N extends string>(...names: readonly N[]) => each(text, ...names);
const numbers = <N extends string>(...names: readonly N[]) => each(number, ...names);
/** Texts that the server may keep to itself: their lengths stand beside them. */
const said = <N extends string>(...names: readonly N[]) => ({
  ...texts(...names),
  ...numbers(...names.map((name) => `${name}_chars` as const)),
});

const owner = texts("tenant", "user");
const place = { ...owner, session_id: id };

const about = z.object({ content: flag, ...texts("currency", "version", "model"), tenants: listOf(z.string()) });

const conversation = z.object({
  ...place,
  ...said("title"),
  ...texts("status", "last_active_at", "memory_status"),
  ...numbers("turns", "cost", "tokens", "failed_turns", "pending_turns"),
});

const answered = {
  ...said("message", "answer"),
  ...texts("at", "memory_status", "outcome", "error_code"),
  ...numbers("cost", "duration_ms"),
};
const turnLine = z.object({ turn: id, ...answered });
const conversationWithTurns = z.extend(conversation, { turn_count: number, turns: listOf(turnLine), next_cursor: text });

const promptBlock = z.object({
  ...said("text"),
  name: text,
  tokens: number,
  cached: known(z.union([z.boolean(), z.number()])),
  same_as_before: flag,
});
const recalledMemory = z.object({ id, ...said("text"), ...texts("category", "strength", "subject", "why"), score: number, used: flag });
const proposal = z.object({ ...said("text", "quote"), ...texts("op", "outcome", "reason"), memory_id: id });
const timing = z.object({ ...texts("name", "error"), ...numbers("started_ms", "duration_ms") });
const turnRecord = z.object({
  ...place,
  turn: id,
  ...answered,
  model: text,
  prompt_blocks: listOf(promptBlock),
  recalled: listOf(recalledMemory),
  held_back: counts,
  proposals: listOf(proposal),
  incognito: flag,
  first_token_ms: number,
  parts: listOf(z.unknown()),
  steps: listOf(timing),
  timings: listOf(timing),
  usage: known(anything),
  write_back: known(z.object({ ...texts("state", "error_code"), attempts: number })),
});

const shownAnswer = z.object({
  ...said("answer"),
  ...texts("model", "memory_status"),
  tools: listOf(z.string()),
  recalled: listOf(z.pick(recalledMemory, { id: true, text: true, text_chars: true, strength: true, used: true })),
  ...numbers("tokens", "cost", "duration_ms"),
});
const difference = known(z.object(numbers("tokens", "cost")));
const turnReplay = z.object({ recorded: known(shownAnswer), replayed: shownAnswer, difference });

/** What was checked before a booking. */
const need = z.object({ ...texts("memory", "who"), stated: known(z.object(texts("state", "because"))) });
const bookingReceipt = z.object({
  number,
  at: text,
  ...each(id, "session_id", "turn"),
  body: known(
    z.object({
      booked: text,
      checked: known(z.object({ needs: listOf(need), unchecked: flag })),
      waived: listOf(z.object({ memory_id: id, how: text })),
    }),
  ),
});

const guest = z.object({
  ...owner,
  ...numbers("sessions", "memories", "waiting", "bookings_count"),
  ...each(listOf(z.unknown()), "bookings", "receipts"),
  booking_receipts: listOf(bookingReceipt),
});
/** `replaces`: ids of memories. */
const change = z.object({
  ...said("text", "quote"),
  ...texts("at", "event", "reason"),
  ...each(id, "memory_id", "session_id", "turn"),
  replaces: listOf(z.string()),
});
/** How often, whether, or when. */
const asked = known(z.union([z.number(), z.boolean(), z.string()]));
const waitingMemory = z.object({ ...owner, memory_id: id, ...said("text"), ...texts("reason", "since"), asked });
const knownUser = z.object({ ...owner, sessions: number, last_active_at: text });

const queues = z.object({ data: z.array(z.object({ ...texts("name", "oldest_at"), ...numbers("due", "waiting", "failed") })) });
const writeBack = z.object({ ...place, turn: id, attempts: number, ...texts("error_code", "due_at") });

const plotStep = z.object({
  at: text,
  ...numbers("turns", "failed", "p50_first_token_ms", "p95_first_token_ms", "given", "held_back", "cost", "tokens", "erasures"),
  ...each(counts, "recall", "proposals", "cost_by_model", "cost_by_tenant"),
});
const plots = z.object({ steps: z.array(plotStep) });

const healthParts = known(z.record(z.string(), z.object(texts("status", "detail"))));
const health = z.object({
  now: known(z.object({ status: text, parts: healthParts })),
  history: listOf(z.object({ ...texts("at", "status"), parts: known(anything) })),
});

const problem = z.object(texts("title", "detail", "hint"));

export type About = z.output<typeof about>;
export type Conversation = z.output<typeof conversation>;
export type TurnLine = z.output<typeof turnLine>;
export type ConversationWithTurns = z.output<typeof conversationWithTurns>;
export type PromptBlock = z.output<typeof promptBlock>;
export type RecalledMemory = z.output<typeof recalledMemory>;
export type Proposal = z.output<typeof proposal>;
export type Timing = z.output<typeof timing>;
export type TurnRecord = z.output<typeof turnRecord>;
export type ShownAnswer = z.output<typeof shownAnswer>;
export type TurnReplay = z.output<typeof turnReplay>;
export type BookingReceipt = z.output<typeof bookingReceipt>;
export type Guest = z.output<typeof guest>;
export type Change = z.output<typeof change>;
export type WaitingMemory = z.output<typeof waitingMemory>;
export type KnownUser = z.output<typeof knownUser>;
export type WriteBack = z.output<typeof writeBack>;
export type PlotStep = z.output<typeof plotStep>;
export type Health = z.output<typeof health>;

export interface Page<T> {
  readonly data: readonly T[];
  readonly next_cursor: string | null;
}

/** Below which path the server stands, as its page says. */
const base = document.body.dataset.base ?? "";

async function ask(method: string, path: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
  const init = { method, credentials: "same-origin", ...(signal && { signal }) } as const;
  const sent = body === undefined ? init : { ...init, body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  const response = await fetch(base + path, sent).catch((cause: unknown) => {
    if (signal?.aborted) throw cause;
    throw new Problem({ detail: "The server can't be reached.", hint: "It is asked again when you try again." });
  });
  const answer: unknown = await response.json().catch(() => null);
  if (response.ok) return answer;
  const { detail, title, hint } = problem.parse(answer ?? {});
  throw new Problem({
    detail: detail ?? title ?? `The server answered with ${response.status}.`,
    hint: hint ?? "",
    status: response.status,
  });
}

/** What may stand in an address: a half of a surrogate pair may not. */
export const encoded = (part: string): string => encodeURIComponent(part.replaceAll(/\p{Surrogate}/gu, "\ufffd"));

async function read<S extends z.ZodMiniType>(schema: S, path: string, query: Query, signal: AbortSignal): Promise<z.output<S>> {
  return readable(schema, await ask("GET", `/v1/operator/${path}${queryOf(query)}`, undefined, signal));
}

function readable<S extends z.ZodMiniType>(schema: S, given: unknown): z.output<S> {
  const answer = schema.safeParse(given);
  if (answer.success) return answer.data;
  throw new Problem({ detail: "The server's answer can't be read.", hint: "Studio and the server may be of different versions." });
}

export type OwnerName = Readonly<{ tenant: string; user: string }>;

export type TurnPlace = OwnerName & Readonly<{ session: string; turn: string }>;

/** What of a turn is to be another than it was. */
export interface Otherwise {
  readonly model?: string;
  readonly prompt?: string;
  readonly memory: boolean;
}

const paged = (cursor: string | null) => ({ limit: 50, cursor });
const page = <S extends z.ZodMiniType>(schema: S, path: string, query: Query, cursor: string | null, signal: AbortSignal) =>
  read(pageOf(schema), path, { ...query, ...paged(cursor) }, signal);

export const client = {
  signIn: async (token: string) => void (await ask("POST", "/studio/session", { token })),
  signOut: async () => void (await ask("DELETE", "/studio/session", undefined)),
  about: (signal: AbortSignal) => read(about, "studio", {}, signal),
  conversations: (query: Query, cursor: string | null, signal: AbortSignal) => page(conversation, "conversations", query, cursor, signal),
  conversation: ({ tenant, user }: OwnerName, session: string, cursor: string | null, signal: AbortSignal) =>
    read(conversationWithTurns, `conversations/${encoded(session)}`, { tenant, user, ...paged(cursor) }, signal),
  turn: ({ tenant, user }: OwnerName, session: string, turn: string, signal: AbortSignal) =>
    read(turnRecord, `turns/${encoded(session)}/${encoded(turn)}`, { tenant, user }, signal),
  replay: async ({ tenant, user }: OwnerName, session: string, turn: string, otherwise: Otherwise, signal: AbortSignal) =>
    readable(
      turnReplay,
      await ask("POST", `/v1/operator/turns/${encoded(session)}/${encoded(turn)}/replay`, { tenant, user, ...otherwise }, signal),
    ),
  users: (tenant: string | undefined, cursor: string | null, signal: AbortSignal) => page(knownUser, "users", { tenant }, cursor, signal),
  guest: ({ tenant, user }: OwnerName, signal: AbortSignal) => read(guest, `guests/${encoded(user)}`, { tenant }, signal),
  timeline: ({ tenant, user }: OwnerName, asOf: string | undefined, cursor: string | null, signal: AbortSignal) =>
    page(change, `guests/${encoded(user)}/timeline`, { tenant, as_of: asOf }, cursor, signal),
  waiting: (tenant: string | undefined, cursor: string | null, signal: AbortSignal) =>
    page(waitingMemory, "waiting", { tenant }, cursor, signal),
  queues: (signal: AbortSignal) => read(queues, "queues", {}, signal),
  writeBacks: (state: string, cursor: string | null, signal: AbortSignal) =>
    page(writeBack, "queues/write-back", { state }, cursor, signal),
  retry: async ({ tenant, user }: OwnerName, session: string) =>
    void (await ask("POST", "/v1/operator/queues/write-back/retry", { tenant, user, session_id: session })),
  plots: (query: Query, signal: AbortSignal) => read(plots, "plots", query, signal),
  health: (signal: AbortSignal) => read(health, "health", {}, signal),
};
