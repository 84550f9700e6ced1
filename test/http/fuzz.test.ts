import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { answeringApplication } from "../support/answering-application.js";
import { fitting, hostileString, hostileValue, type JsonSchema } from "../support/arbitrary-json.js";
import { fakeApplication } from "../support/fake-application.js";
import { appOver } from "../support/http-client.js";

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean; readonly schema: JsonSchema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>> }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

const RUNS = 60;
const app = await appOver(answeringApplication());
const document = (await (await (await appOver(fakeApplication())).request("/openapi.json")).json()) as Document;
const ajv = new Ajv2020({ strict: false, validateFormats: false });
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

function validatorOf(schema: JsonSchema) {
  return ajv.compile({ ...schema, components: document.components });
}
const isProblem = validatorOf({ $ref: "#/components/schemas/Problem" });

/** Either what fits, or something hostile in its place. */
function mixed(schema: JsonSchema): fc.Arbitrary<unknown> {
  return fc.oneof({ arbitrary: fitting(schema, document.components.schemas), weight: 3 }, { arbitrary: hostileValue, weight: 1 });
}

const HEADER_UNSAFE = /[^\t\x20-\x7e\x80-\xff]/g;

function requests({ method, path, operation }: (typeof operations)[number]): fc.Arbitrary<{ url: string; init: RequestInit }> {
  const parameters = operation.parameters ?? [];
  const of = (where: string) =>
    fc.record(
      Object.fromEntries(
        parameters.filter((parameter) => parameter.in === where).map((parameter) => [parameter.name, mixed(parameter.schema)]),
      ),
      { requiredKeys: where === "path" ? parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name) : [] },
    );
  const media = Object.keys(operation.requestBody?.content ?? {});
  const bodySchema = operation.requestBody?.content["application/json"]?.schema ?? {};
  const body =
    media.length === 0
      ? fc.constant(undefined)
      : fc.oneof(
          { arbitrary: mixed(bodySchema).map((value) => JSON.stringify(value)), weight: 4 },
          { arbitrary: hostileString, weight: 1 },
        );
  const extra = fc.dictionary(fc.constantFrom("x", "confirm", "limit", "__proto__"), hostileString, { maxKeys: 1 });
  const hostileHeader = fc.dictionary(
    fc.constantFrom("X-User-Id", "X-Timezone", "X-Request-Id", "Idempotency-Key", "Accept", "Cookie", "Content-Type"),
    hostileString,
    { maxKeys: 2 },
  );
  return fc
    .record({ inPath: of("path"), inQuery: of("query"), inHeader: of("header"), body, extra, hostileHeader, raw: fc.boolean() })
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
      for (const [name, value] of Object.entries({ ...made.inHeader, ...made.hostileHeader }))
        headers.set(name, text(value).replace(HEADER_UNSAFE, ""));
      return {
        url: `http://localhost${filled}?${query}`,
        init: { method, headers, ...(made.body === undefined ? {} : { body: made.body }) },
      };
    });
}

describe("every route, with generated and hostile input [hostile-input]", () => {
  test.each(operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
    "%s never fails by itself, never hangs, and answers as the document says",
    async (_name, operation) => {
      const statuses = new Set<number>();
      await fc.assert(
        fc.asyncProperty(requests(operation), async ({ url, init }) => {
          const response = await app.request(url, init);
          const text = await response.text();
          statuses.add(response.status);
          expect(response.status).toBeLessThan(500);
          expect(text).not.toMatch(/\n\s+at |node_modules|\/src\/|\.ts:\d/);
          const type = response.headers.get("Content-Type")?.split(";")[0];
          if (response.status >= 400) {
            expect(type).toBe("application/problem+json");
            expect([isProblem(JSON.parse(text)), isProblem.errors]).toEqual([true, null]);
          } else if (type === "application/json") {
            const described = operation.operation.responses[String(response.status)]?.content?.[type];
            // A hostile id may have turned the path into another route's.
            if (!described || new URL(url).pathname.split("/").length !== operation.path.split("/").length) return;
            const validate = (described as { compiled?: ReturnType<typeof validatorOf> }).compiled ?? validatorOf(described.schema);
            Object.assign(described, { compiled: validate });
            expect([validate(JSON.parse(text)), validate.errors]).toEqual([true, null]);
          }
        }),
        { numRuns: RUNS },
      );
      // A fuzz that never gets through to the handler shows nothing.
      expect([...statuses].some((status) => status < 300)).toBe(true);
    },
  );
});
