import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { onTestFinished } from "vitest";
import { type Composed, compose, type Overrides } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { createHttpApp, type HttpApp } from "../../src/http/app.js";
import { systemClock } from "../../src/platform/clock.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { ChatAnswer } from "../../src/ports/resources.js";
import { byWords } from "../support/by-words.js";

/** The whole product as `main.ts` puts it together, over `app.request()` instead of a port: file store, LocalQdrant, Mem0, concierge. */
export interface World {
  readonly dir: string;
  readonly application: Composed;
  readonly app: HttpApp;
  as(user: string): Client;
  stop(): Promise<void>;
}

export interface Answer<T = never> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The text as JSON; read only where the answer is JSON. */
  readonly body: T;
}

/** A guest's HTTP client. A body that is text is sent as it is. */
export interface Client {
  request<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer<T>>;
  get<T = Record<string, unknown>>(path: string): Promise<Answer<T>>;
  post<T = Record<string, unknown>>(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer<T>>;
  delete<T = Record<string, unknown>>(path: string): Promise<Answer<T>>;
  /** One turn that must be answered with 200, written back before this resolves. */
  say(message: string, more?: Readonly<Record<string, unknown>>): Promise<ChatAnswer>;
}

export async function tempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-e2e-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** A world that is stopped at the end of the test. */
export async function startWorld(dir: string, variables: Readonly<Record<string, string>> = {}, overrides: Overrides = {}): Promise<World> {
  const world = await openWorld(dir, variables, overrides);
  onTestFinished(() => world.application.close({ drainMs: 0 }));
  return world;
}

/**
 * Recall gets more than its usual deadline, so that a slow machine doesn't change what an answer holds; not as much as a write, so that a
 * server of vectors has two clients, as it has in use.
 */
export async function openWorld(dir: string, variables: Readonly<Record<string, string>> = {}, overrides: Overrides = {}): Promise<World> {
  const config = parseConfig(byWords({ MEMORY_STORAGE_DIR: dir, RECALL_DEADLINE_MS: "9000", ...variables }));
  const application = await compose(config, overrides);
  const { logger = silentLogger, clock = systemClock } = overrides;
  const app = await createHttpApp({ application, config, logger, clock, operator: application.parts.operator });
  return { dir, application, app, as: (user) => clientOf(app, user), stop: () => application.close({ drainMs: 20_000 }) };
}

function clientOf(app: HttpApp, user: string): Client {
  const request: Client["request"] = async <T>(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer<T>> => {
    const init: RequestInit = { method, headers: { "X-User-Id": user, "Content-Type": "application/json", ...headers } };
    if (body !== undefined) init.body = typeof body === "string" ? body : JSON.stringify(body);
    const response = await app.request(path, init);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      get body() {
        return JSON.parse(text) as T;
      },
    };
  };
  const client: Client = {
    request,
    get: (path) => request("GET", path),
    post: (path, body, headers) => request("POST", path, body, headers),
    delete: (path) => request("DELETE", path),
    say: async (message, more = {}) => {
      const { status, text, body } = await request<ChatAnswer>("POST", "/v1/chat", { message, ...more });
      if (status !== 200) throw new Error(`The turn was answered with ${status}: ${text}`);
      const flushed = await request<{ pending_turns: number; failed_turns: number }>(
        "POST",
        `/v1/sessions/${body.session_id}/flush?timeout_ms=20000`,
      );
      if (flushed.body.pending_turns + flushed.body.failed_turns > 0) throw new Error(`The write-back did not end well: ${flushed.text}`);
      return body;
    },
  };
  return client;
}

/** Files below a directory that hold one of the texts, as `file: text`. Looks in UTF-8 and UTF-16 (both byte orders), in lower case too, and into what is packed. */
export async function filesHolding(dir: string, texts: readonly string[]): Promise<string[]> {
  const needles = texts.flatMap((text) => [text, text.toLowerCase()].map((each) => ({ text: each, forms: encodingsOf(each) })));
  const found = new Set<string>();
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = await readFile(join(entry.parentPath, entry.name));
    const contents = [bytes, ...(entry.name.endsWith(".gz") ? [gunzipSync(bytes)] : [])];
    for (const { text, forms } of needles)
      if (forms.some((form) => entry.name.includes(text) || contents.some((content) => content.includes(form))))
        found.add(`${entry.name}: ${text}`);
  }
  return [...found].sort();
}

function encodingsOf(text: string): readonly Buffer[] {
  const utf16 = Buffer.from(text, "utf16le");
  const json = JSON.stringify(text).slice(1, -1);
  return [Buffer.from(text), Buffer.from(json), utf16, Buffer.from(utf16).swap16()];
}
