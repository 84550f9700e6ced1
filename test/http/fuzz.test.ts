import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Memory } from "../../src/domain/memory.js";
import { ownerOf } from "../../src/domain/owner.js";
import type { HttpApp } from "../../src/http/app.js";
import type { ChatAnswer } from "../../src/ports/resources.js";
import { openWorld, type World } from "../e2e/world.js";
import { answeringApplication, answeringOperator } from "../support/answering-application.js";
import { fitting, hostileString, hostileValue, type JsonSchema } from "../support/arbitrary-json.js";
import { type ApiDocument, DescribedAnswers, operationsOf } from "../support/described-answers.js";
import { fakeApplication } from "../support/fake-application.js";
import { appOver, json } from "../support/http-client.js";
import { SLOW } from "../support/projects.js";
import { IMAGE_ID, MEMORY_ID, MESSAGE_ID, PNG, SESSION_ID } from "../support/samples.js";

/** Requests of each route, to its handler alone and to the whole product. */
const RUNS = [
  { handler: 12, whole: 6, tags: [] },
  { handler: 60, whole: 40, tags: [SLOW] },
];
/** Requests as the document wants them, until one gets through. */
const MAX_PLAIN = 200;
const MAX_PLAIN_WHOLE = 20;
const OPERATOR_TOKEN = "operate-0123456789";
const app = await appOver(answeringApplication(), { config: { OPERATOR_TOKEN }, operator: answeringOperator() });
/** What a trusted backend alone may ask for. */
const OF_BACKENDS = /^\/v1\/(?:events|identities)/;
const keys = join(await mkdtemp(join(tmpdir(), "maitred-fuzz-keys-")), "keys.json");
await writeFile(keys, JSON.stringify([{ sha256: createHash("sha256").update("backend").digest("hex"), user: null }]));
const backendApp = await appOver(answeringApplication(), { config: { AUTH_MODE: "api-key", API_KEYS_FILE: keys } });
const document = (await (await (await appOver(fakeApplication())).request("/openapi.json")).json()) as ApiDocument;
const described = new DescribedAnswers(document);
const operations = operationsOf(document);

/** Either what fits, or something hostile in its place. */
function mixed(schema: JsonSchema): fc.Arbitrary<unknown> {
  return fc.oneof({ arbitrary: fitting(schema, document.components.schemas), weight: 3 }, { arbitrary: hostileValue, weight: 1 });
}

interface GeneratedRequest {
  readonly url: string;
  readonly init: RequestInit;
}

const HEADER_UNSAFE = /[^\t\x20-\x7e\x80-\xff]/g;

/** Hostile ones, and every fourth as the document wants it, so that what lies behind the checks is met too. */
function requests(operation: (typeof operations)[number]): fc.Arbitrary<GeneratedRequest> {
  return fc.oneof({ arbitrary: requestsOf(operation, mixed, true), weight: 3 }, { arbitrary: plain(operation), weight: 1 });
}

function plain(operation: (typeof operations)[number]): fc.Arbitrary<GeneratedRequest> {
  return requestsOf(operation, (schema) => fitting(schema, document.components.schemas), false);
}

/** A few that come before the others, however few those are. */
const asWanted = (operation: (typeof operations)[number]): [GeneratedRequest][] => fc.sample(plain(operation), 4).map((each) => [each]);

function requestsOf(
  { method, path, operation }: (typeof operations)[number],
  valueFor: (schema: JsonSchema) => fc.Arbitrary<unknown>,
  hostile: boolean,
): fc.Arbitrary<GeneratedRequest> {
  const parameters = operation.parameters ?? [];
  const of = (where: string) =>
    fc.record(
      Object.fromEntries(
        parameters.filter((parameter) => parameter.in === where).map((parameter) => [parameter.name, valueFor(parameter.schema)]),
      ),
      { requiredKeys: where === "path" ? parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name) : [] },
    );
  const media = Object.keys(operation.requestBody?.content ?? {});
  const bodySchema = operation.requestBody?.content["application/json"]?.schema ?? {};
  const body =
    media.length === 0
      ? fc.constant(undefined)
      : fc.oneof(
          { arbitrary: valueFor(bodySchema).map((value) => JSON.stringify(value)), weight: 4 },
          { arbitrary: hostileString, weight: hostile ? 1 : 0 },
        );
  const extra = fc.dictionary(fc.constantFrom("x", "confirm", "limit", "__proto__"), hostileString, { maxKeys: hostile ? 1 : 0 });
  const hostileHeader = fc.dictionary(
    fc.constantFrom("X-User-Id", "X-Timezone", "X-Request-Id", "Idempotency-Key", "Accept", "Cookie", "Content-Type"),
    hostileString,
    { maxKeys: hostile ? 2 : 0 },
  );
  return fc
    .record({
      inPath: of("path"),
      inQuery: of("query"),
      inHeader: of("header"),
      body,
      extra,
      hostileHeader,
      raw: hostile ? fc.boolean() : fc.constant(false),
    })
    .map((made) => {
      const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
      // Half of the time escapes in ids go as they are, so that broken and double encodings are met as well.
      const encode = (value: string) =>
        made.raw
          ? value.replace(/[^\x21-\x7e]|[?#\\]/gu, (c) => encodeURIComponent(c.replace(/\p{Surrogate}/gu, "?")))
          : encodeURIComponent(value.replace(/\p{Surrogate}/gu, "?"));
      const filled = path.replace(/\{(\w+)\}/g, (_match, name: string) => encode(text((made.inPath as Record<string, unknown>)[name])));
      const query = new URLSearchParams(
        Object.entries({ ...made.inQuery, ...made.extra }).map(([name, value]): [string, string] => [name, text(value)]),
      );
      const headers = new Headers({ "Content-Type": media[0] ?? "application/json" });
      if (path.startsWith("/v1/operator/")) headers.set("Authorization", `Bearer ${OPERATOR_TOKEN}`);
      for (const [name, value] of Object.entries({ ...made.inHeader, ...made.hostileHeader }))
        headers.set(name, text(value).replace(HEADER_UNSAFE, ""));
      return {
        url: `http://localhost${filled}?${query}`,
        init: { method, headers, ...(made.body === undefined ? {} : { body: made.body }) },
      };
    });
}

/** One request, answered as the document says, and never with a failure of our own. */
async function answeredAsDocumented(
  app: HttpApp,
  operation: (typeof operations)[number],
  { url, init }: { url: string; init: RequestInit },
): Promise<number> {
  const response = await app.request(url, init);
  const text = await response.text();
  expect(response.status, text).toBeLessThan(500);
  expect(text).not.toMatch(/\n\s+at |node_modules|\/src\/|\.ts:\d/);
  // A hostile id may have turned the path into another route's, or into none.
  const isThis = new URL(url).pathname.split("/").length === operation.path.split("/").length;
  const isRouted = response.status !== 405 && !text.includes('"code":"NOT_FOUND"');
  if (isThis && isRouted) expect(described.complaints(operation.operation, response, text)).toEqual([]);
  return response.status;
}

const named = operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);

for (const { handler, tags } of RUNS)
  describe(`every route, ${handler} times, with generated and hostile input [hostile-input]`, { tags }, () => {
    test.each(named)("%s never fails by itself, never hangs, and answers as the document says", async (_name, operation) => {
      const statuses = new Set<number>();
      const asked = async ({ url, init }: GeneratedRequest) => {
        const isOfBackend = OF_BACKENDS.test(operation.path);
        const headers = new Headers(init.headers);
        if (isOfBackend) headers.set("Authorization", "Bearer backend");
        statuses.add(await answeredAsDocumented(isOfBackend ? backendApp : app, operation, { url, init: { ...init, headers } }));
      };
      await fc.assert(fc.asyncProperty(requests(operation), asked), { numRuns: handler });
      const isThrough = () => [...statuses].some((status) => status < 300);
      // Of some routes not all that fits is done.
      for (const each of fc.sample(plain(operation), MAX_PLAIN)) if (!isThrough()) await asked(each);
      // A fuzz that never gets through to the handler shows nothing.
      expect(isThrough()).toBe(true);
    });
  });

for (const { whole, tags } of RUNS)
  describe(`the same of the whole product, ${whole} times: journals, SQLite, memories, history, import [hostile-input]`, { tags }, () => {
    let world: World;
    const reached = new Set<unknown>();
    beforeAll(async () => {
      world = await openWorld(await mkdtemp(join(tmpdir(), "maitred-fuzz-")), { OPERATOR_TOKEN });
    });
    afterAll(async () => {
      await world.stop();
      await rm(world.dir, { recursive: true });
    });

    /** A session with an image, a memory and a message of the user's own, in the place of the sample's ids. What was there before may have been deleted. */
    async function seeded(): Promise<(text: string) => string> {
      const post = async <T>(path: string, body: unknown) => {
        const response = await world.app.request(path, json("POST", body));
        expect(response.status).toBeLessThan(300);
        return (await response.json()) as T;
      };
      const { session_id, message } = await post<ChatAnswer>("/v1/chat", { message: "I prefer jazz concerts." });
      const { id } = await post<Memory>("/v1/memories", { text: "Prefers seats by the aisle", category: "seating" });
      await world.application.parts.store.images.put(ownerOf("default", "local-user"), session_id, IMAGE_ID, PNG);
      const ids: Readonly<Record<string, string>> = { [SESSION_ID]: session_id, [MEMORY_ID]: id, [MESSAGE_ID]: message.id };
      return (text) => Object.entries(ids).reduce((filled, [sample, own]) => filled.replaceAll(sample, own), text);
    }

    test.each(named)("%s", async (_name, operation) => {
      const own = await seeded();
      const asked = async ({ url, init }: GeneratedRequest) => {
        const body = typeof init.body === "string" ? { body: own(init.body) } : {};
        const status = await answeredAsDocumented(world.app, operation, { url: own(url), init: { ...init, ...body } });
        if (status < 300) reached.add(operation);
      };
      await fc.assert(fc.asyncProperty(requests(operation), asked), { numRuns: whole, examples: asWanted(operation) });
      for (const each of fc.sample(plain(operation), MAX_PLAIN_WHOLE)) if (!reached.has(operation)) await asked(each);
    });

    test("and nothing that it left behind fails afterwards", async () => {
      await world.application.parts.worker.drain(20_000);
      expect(await world.application.readiness()).toMatchObject({ status: "ok" });
      // What can't be restored, or imported, from where the seeds stand is refused; most is done.
      const ofUsers = named.filter(([, { path }]) => !OF_BACKENDS.test(path) && !path.startsWith("/v1/operator/"));
      expect(reached.size).toBeGreaterThan(ofUsers.length * 0.8);
    });
  });
