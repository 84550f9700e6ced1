import { readFile } from "node:fs/promises";
import type { Memory } from "../domain/memory.js";
import type { Message } from "../domain/session.js";
import { AppError, ERRORS, type ErrorCode, isAppError } from "../platform/errors.js";
import type { ChatEvent } from "../ports/application.js";
import type { ChatAnswer } from "../ports/resources.js";
import { type Backend, FLUSH_MS, FOUND, localTimeZone, waitingIn } from "./backend.js";

export interface RemoteOptions {
  /** The server's address: "http://127.0.0.1:3000". */
  readonly url: string;
  /** Sent as X-User-Id, where the server takes it. */
  readonly user: string;
  /** Sent as a bearer token. */
  readonly token: string | null;
  readonly fetch: typeof fetch;
}

interface Call {
  readonly method?: string;
  readonly json?: unknown;
  readonly body?: ReadableStream<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** The commands' backend over a server's HTTP API. Its problems come back as the errors that they were. */
export function remoteBackend(options: RemoteOptions): Backend {
  const send = (path: string, call: Call = {}) => request(options, path, call);
  const read = async <T>(path: string, call: Call = {}) => (await (await send(path, call)).json()) as T;
  const session = (id: string) => `/v1/sessions/${encodeURIComponent(id)}`;
  const memory = (id: string) => `/v1/memories/${encodeURIComponent(id)}`;
  const listed = async <T>(path: string, call?: Call) => (await read<{ readonly data: readonly T[] }>(path, call)).data;
  return {
    about: { model: null, store: options.url },
    warm: async () => {},
    async chat({ message, sessionId }, { signal, onEvent }) {
      const json = { message, stream: true, channel: "cli", ...(sessionId === undefined ? {} : { session_id: sessionId }) };
      const headers = { Accept: "text/event-stream", "X-Timezone": localTimeZone() };
      return readAnswer(await send("/v1/chat", { method: "POST", json, headers, signal }), onEvent);
    },
    sessions: () => listed("/v1/sessions?limit=20"),
    session: (id) => read(session(id)),
    messages: async (id) => (await listed<Message>(`${session(id)}/messages?limit=200&order=desc`)).toReversed(),
    deleteSession: async (id) => void (await send(session(id), { method: "DELETE" })),
    flush: async (id) => void (await send(`${session(id)}/flush?timeout_ms=${FLUSH_MS}`, { method: "POST" })),
    memories: () => listed("/v1/memories?limit=50&status=active"),
    search: (query) => listed("/v1/memories/search", { method: "POST", json: { query, limit: FOUND } }),
    remember: (text, { hard }) => {
      const headers = { "X-Timezone": localTimeZone() };
      return read("/v1/memories", { method: "POST", json: { text, ...(hard && { strength: "hard" }) }, headers });
    },
    why: (id) => read(`${memory(id)}/why`),
    forget: async (id) => void (await send(memory(id), { method: "DELETE" })),
    waiting: () => waitingIn(({ status, limit }) => listed<Memory>(`/v1/memories?limit=${limit}&status=${status}`)),
    approve: (id) => read(`${memory(id)}/approve`, { method: "POST" }),
    reject: (id) => read(`${memory(id)}/reject`, { method: "POST" }),
    async import(body, { format, extract, signal }) {
      const headers = { "Content-Type": format === "ndjson" ? "application/x-ndjson" : "application/json" };
      return read(`/v1/import?extract=${extract}`, { method: "POST", body: ReadableStream.from(body), headers, signal });
    },
    async *export() {
      const response = await send("/v1/me/export");
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) yield decoder.decode(chunk, { stream: true });
    },
    /** One that takes longer than a request goes on, and is waited for again. */
    erase: async () => {
      for (;;) {
        try {
          return await read("/v1/me?confirm=true", { method: "DELETE" });
        } catch (error) {
          if (!isAppError(error, "ERASURE_UNDER_WAY")) throw error;
        }
      }
    },
    async readiness() {
      // A server that is down in part answers 503 with the same body.
      const response = await reach(options, new URL("/readyz", options.url), initOf(options, {}));
      return (await response.json()) as never;
    },
    close: async () => {},
  };
}

/** One request, answered with success. @throws SERVER_UNREACHABLE, ABORTED, and what the server answered */
export function request(options: RemoteOptions, path: string, call: Call): Promise<Response> {
  return wellAnswered(options)(new URL(path, options.url), initOf(options, call));
}

export function headersOf({ user, token }: Pick<RemoteOptions, "user" | "token">): Record<string, string> {
  return { "X-User-Id": user, ...(token !== null && { Authorization: `Bearer ${token}` }) };
}

/**
 * `fetch` whose problems are the errors that they were.
 * @throws SERVER_UNREACHABLE, and what the server answered
 */
export function wellAnswered(server: Pick<RemoteOptions, "url" | "fetch">): (to: string | URL, init?: RequestInit) => Promise<Response> {
  return async (to, init) => {
    const response = await reach(server, to, init);
    if (response.ok) return response;
    throw errorOf(await response.json().catch(() => null), response.status);
  };
}

async function reach({ url, fetch }: Pick<RemoteOptions, "url" | "fetch">, to: string | URL, init?: RequestInit): Promise<Response> {
  return fetch(to, init).catch((cause: unknown) => {
    if (init?.signal?.aborted) throw new AppError("ABORTED", { cause });
    throw new AppError("SERVER_UNREACHABLE", { detail: `${url} can't be reached.`, cause });
  });
}

function initOf(options: RemoteOptions, { method = "GET", json, body, headers, signal }: Call): RequestInit {
  return {
    method,
    headers: { ...headersOf(options), ...headers, ...(json !== undefined && { "Content-Type": "application/json" }) },
    ...(json !== undefined && { body: JSON.stringify(json) }),
    ...(body !== undefined && { body, duplex: "half" }),
    ...(signal !== undefined && { signal }),
  };
}

async function readAnswer(response: Response, onEvent: (event: ChatEvent) => void): Promise<ChatAnswer> {
  for await (const { event, data } of serverEvents(response.body ?? new ReadableStream())) {
    const value: unknown = JSON.parse(data);
    if (event === "message") return value as ChatAnswer;
    if (event === "error") throw errorOf(value, 500);
    const told = eventOf(event, value);
    if (told) onEvent(told);
  }
  throw new AppError("SERVER_UNREACHABLE", { detail: "The server's answer broke off." });
}

function eventOf(event: string, value: unknown): ChatEvent | null {
  if (event === "memory") return { type: "memory", memory: value as ChatAnswer["memory"] };
  if (event === "step") return { type: "step", step: value as ChatAnswer["steps"][number] };
  if (event === "token" || event === "session") return { type: event, ...(value as object) } as ChatEvent;
  return null;
}

function errorOf(problem: unknown, status: number): AppError {
  const { code, detail, hint, errors } = (problem ?? {}) as { code?: string; detail?: string; hint?: string; errors?: [] };
  const known = code !== undefined && Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : status >= 502 ? "SERVER_UNREACHABLE" : "INTERNAL";
  return new AppError(known, {
    detail: detail ?? `The server answered ${status}.`,
    ...(hint === undefined ? {} : { hint }),
    ...(errors === undefined ? {} : { errors }),
  });
}

interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * Server-sent events from a response's body, as the HTML standard has them: blank lines part events, `data` lines are joined, comments and
 * unknown fields are passed over, an event that is cut off at the end is none.
 */
async function* serverEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  let event = "message";
  let data: string[] = [];
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    // A lone CR at the end may be half of a CRLF.
    const held = rest.endsWith("\r") ? "\r" : "";
    const lines = rest.slice(0, rest.length - held.length).split(/\r\n|\r|\n/);
    rest = (lines.pop() ?? "") + held;
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0) yield { event, data: data.join("\n") };
        event = "message";
        data = [];
        continue;
      }
      const [, field, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (field === "event") event = value ?? "";
      if (field === "data") data.push(value ?? "");
    }
  }
}

/** What stands before or behind any command. */
export interface GlobalOptions {
  readonly json: boolean;
  readonly url?: string;
  /** The file of a domain; not with `url`. */
  readonly domain?: string;
  readonly user: string;
  readonly tenant: string;
  readonly token?: string;
  readonly tokenFile?: string;
}

/** @throws INVALID_REQUEST for what is no address */
export async function remoteOptions(
  parts: Pick<RemoteOptions, "fetch">,
  url: string,
  { user, token: given, tokenFile }: GlobalOptions,
): Promise<RemoteOptions> {
  if (!URL.canParse(url))
    throw new AppError("INVALID_REQUEST", { detail: "--url is not an address.", hint: "For example --url http://127.0.0.1:3000" });
  const token = given ?? (tokenFile === undefined ? null : (await readFile(tokenFile, "utf8")).trim());
  return { url, user, token, fetch: parts.fetch };
}
