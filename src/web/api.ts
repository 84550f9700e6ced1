import type { Fields, FoundMemory, Hit, Me, Memory, MemoryEvent, Page, Readiness, Receipt, Session, Thread, Why } from "./api-types.js";
import { forGood, forThisTab } from "./browser-store.js";
import { type Query, queryOf } from "./format.js";
import { Problem, type ProblemBody, problemOf } from "./problems.js";
import { tell } from "./state.js";

/** The server's API as the page uses it. */

/** Where the server's paths begin: the page's script is two folders below. */
const ROOT = new URL("../../", import.meta.url);
const ALIVE_MS = 10_000;
/** Memories that one page of a list holds, and how many pages are read: more than anyone looks through by hand. */
const PAGE = 200;
const MAX_PAGES = 10;
const FOUND_MEMORIES = 50;
const FOUND_MESSAGES = 30;
const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

export const identity = {
  user: forGood.get("maitred.user") ?? "",
  token: forThisTab.get("maitred.token") ?? "",
  asUser(user: string): void {
    this.user = user;
    forGood.set("maitred.user", user);
  },
  withToken(token: string): void {
    this.token = token;
    forThisTab.set("maitred.token", token);
  },
};

type Headers = Readonly<Record<string, string>>;

/** Header values are bytes: text goes as UTF-8. */
const encodeHeader = (text: string) => String.fromCharCode(...new TextEncoder().encode(text));

function headers(more: Headers): Headers {
  return {
    ...(timeZone && { "X-Timezone": timeZone }),
    ...(identity.token && { Authorization: `Bearer ${identity.token}` }),
    ...(identity.user && { "X-User-Id": encodeHeader(identity.user) }),
    ...more,
  };
}

type SignIn = (token: string, method: string) => Promise<boolean>;
let signIn: SignIn = async () => false;
let askingToSignIn = 0;

/** Whether a request waits for the guest to sign in: however long that takes. */
export const isSigningIn = (): boolean => askingToSignIn > 0;

/** `ask`: called where the server doesn't take that token (any more); gives whether there is another by now. */
export function whenSignedOut(ask: SignIn): void {
  signIn = ask;
}

async function signInAgain(token: string, method: string): Promise<boolean> {
  askingToSignIn += 1;
  return signIn(token, method).finally(() => {
    askingToSignIn -= 1;
  });
}

/** A new name for a request. Browsers have `randomUUID` only where the page came by HTTPS or from this machine. */
export function freshKey(): string {
  return (
    crypto.randomUUID?.() ?? [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("")
  );
}

interface RequestOptions {
  readonly body?: unknown;
  /** A body as it is, instead of JSON. */
  readonly raw?: Blob;
  readonly signal?: AbortSignal;
  /** It goes on when the page is left. */
  readonly keepalive?: boolean;
  /** Where the guest is signed out, nobody asks them to sign in. */
  readonly quiet?: boolean;
  readonly headers?: Headers;
}

/** @throws Problem */
export async function request(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const { body, raw, signal, keepalive = false, quiet = false } = options;
  const { token } = identity;
  const json: RequestInit = body === undefined ? (raw ? { body: raw } : {}) : { body: JSON.stringify(body) };
  let response: Response;
  try {
    response = await fetch(new URL(path.slice(1), ROOT), {
      method,
      signal: signal ?? null,
      keepalive,
      headers: headers({ ...(body !== undefined && { "Content-Type": "application/json" }), ...options.headers }),
      ...json,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    tell("unreachable", {});
    throw new Problem({ detail: "The connection is gone for the moment.", code: "OFFLINE" });
  }
  if (response.ok) return response;
  if (response.status === 401 && !quiet && (await signInAgain(token, method))) return request(method, path, { ...options, quiet: true });
  const problem: ProblemBody = await response
    .json()
    .catch(() => ({ title: `The server answered ${response.status}`, status: response.status }));
  throw new Problem({ ...problem, retry_after: Number(response.headers.get("Retry-After") ?? 0) });
}

async function json<T>(method: string, path: string, options?: RequestOptions): Promise<T> {
  const response = await request(method, path, options);
  return (response.status === 204 ? null : await response.json()) as T;
}

const listOf = async <T>(method: string, path: string, options?: RequestOptions): Promise<readonly T[]> =>
  (await json<Page<T>>(method, path, options)).data;

const id = encodeURIComponent;
const sessionAt = (session: string) => `/v1/sessions/${id(session)}`;
const memoryAt = (memory: string) => `/v1/memories/${id(memory)}`;

export type Patch = Partial<Pick<Memory, "text" | "strength" | "subject">> & { readonly valid_until?: string | null };

export const api = {
  me: () => json<Me>("GET", "/v1/me", { quiet: true }),
  /** How the server's parts are; null where it doesn't tell. */
  ready: () => json<Readiness>("GET", "/readyz").catch(() => null),
  /** Whether the server answers: a network that has gone quiet never says no. */
  alive: () =>
    fetch(new URL("healthz", ROOT), { cache: "no-store", signal: AbortSignal.timeout(ALIVE_MS) }).then(
      ({ ok }) => ok,
      () => false,
    ),

  sessions: (params: Query) => json<Page<Session>>("GET", `/v1/sessions${queryOf(params)}`),
  session: (session: string) => json<Session>("GET", sessionAt(session)),
  thread: (session: string) => json<Thread>("GET", `${sessionAt(session)}/thread`),
  /** A new one, once for the key of its first turn. */
  begin: (key: string) => json<Session>("POST", "/v1/sessions", { body: {}, headers: { "Idempotency-Key": `${key} begin` } }),
  change: (session: string, patch: Partial<Pick<Session, "title" | "status">>) => json("PATCH", sessionAt(session), { body: patch }),
  remove: (session: string) => json("DELETE", sessionAt(session)),
  restore: (session: string) => json("POST", `${sessionAt(session)}/restore`),
  purge: (session: string, keepMemories: boolean) => json("DELETE", `${sessionAt(session)}?purge=true&keep_memories=${keepMemories}`),
  flush: (session: string) => json("POST", `${sessionAt(session)}/flush?timeout_ms=10000`),
  /** What was said, best first. */
  said: (text: string) => listOf<Hit>("POST", "/v1/history/search", { body: { query: text, limit: FOUND_MESSAGES } }),
  bookings: () => listOf<Fields>("GET", "/v1/me/bookings"),

  memories: (params: Query) => json<Page<Memory>>("GET", `/v1/memories${queryOf(params)}`),
  /** All of them, newest first, up to 2,000. */
  async allMemories(filter: Query = {}): Promise<readonly Memory[]> {
    const found: Memory[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < MAX_PAGES; page++) {
      const { data, next_cursor: next }: Page<Memory> = await api.memories({ ...filter, limit: PAGE, cursor });
      found.push(...data);
      cursor = next;
      if (next === null) break;
    }
    return found;
  },
  searchMemories: (text: string) => listOf<FoundMemory>("POST", "/v1/memories/search", { body: { query: text, limit: FOUND_MEMORIES } }),
  addMemory: (memory: object) => json<Memory>("POST", "/v1/memories", { body: memory, headers: { "Idempotency-Key": freshKey() } }),
  changeMemory: (memory: string, patch: Patch) => json<Memory>("PATCH", memoryAt(memory), { body: patch }),
  /** `last`: the page is being left, and the request must outlive it. */
  forget: (memory: string, last = false) => json("DELETE", memoryAt(memory), { keepalive: last }),
  forgetAll: async () => (await json<{ readonly forgotten: number }>("DELETE", "/v1/memories?confirm=true")).forgotten,
  approve: (memory: string) => json("POST", `${memoryAt(memory)}/approve`),
  reject: (memory: string) => json("POST", `${memoryAt(memory)}/reject`),
  why: (memory: string) => json<Why>("GET", `${memoryAt(memory)}/why`),
  history: (memory: string) => listOf<MemoryEvent>("GET", `${memoryAt(memory)}/history`),

  exportAll: async () => (await request("GET", "/v1/me/export")).blob(),
  async importFile(file: File): Promise<{ readonly sessions: number; readonly messages: number; readonly skipped_duplicates: number }> {
    const type = /\.(ndjson|jsonl)$/.test(file.name) ? "application/x-ndjson" : "application/json";
    return (await request("POST", "/v1/import", { raw: file, headers: { "Content-Type": type } })).json();
  },
  /** An erasure that takes longer than a request goes on, and is waited for again. */
  async erase(): Promise<Receipt> {
    for (;;) {
      try {
        return await json<Receipt>("DELETE", "/v1/me?confirm=true");
      } catch (error) {
        if (problemOf(error).code !== "ERASURE_UNDER_WAY") throw error;
      }
    }
  },
};

/** The server sends something every 15 seconds, at least a comment. */
export const QUIET_MS = 25_000;

/** Calls `onQuiet` once `heard` has not been called for so many milliseconds, and again after it was; they are what it was last given. */
export function quietWatch(onQuiet: () => void, ms = QUIET_MS) {
  let timer: ReturnType<typeof setTimeout>;
  const end = () => clearTimeout(timer);
  const heard = (next = ms) => {
    ms = next;
    end();
    timer = setTimeout(onQuiet, ms);
  };
  heard();
  return { heard, end };
}

/**
 * Server-sent events of a response's body; comments are passed over. Ends where the stream does. `onBytes`: called with whatever comes, a
 * comment too: by these one tells a stream that has nothing to say from one that is dead.
 */
export async function* eventsIn(
  response: Response,
  onBytes: () => void,
): AsyncGenerator<{ readonly event: string; readonly data: unknown }> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) return;
    onBytes();
    rest += value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const lines = block.split("\n");
      const field = (name: string) => lines.find((line) => line.startsWith(name))?.slice(name.length);
      const [event, data] = [field("event: "), field("data: ")];
      if (event && data) yield { event, data: JSON.parse(data) };
    }
  }
}
