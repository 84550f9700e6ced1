import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { fakeApplication } from "../support/fake-application.js";
import { appOver } from "../support/http-client.js";

const ROUTES = [
  "delete /v1/me",
  "delete /v1/memories",
  "delete /v1/memories/{id}",
  "delete /v1/sessions/{id}",
  "delete /v1/sessions/{id}/messages",
  "get /healthz",
  "get /readyz",
  "get /v1/history/search",
  "get /v1/me",
  "get /v1/me/export",
  "get /v1/models",
  "get /v1/memories",
  "get /v1/memories/{id}",
  "get /v1/memories/{id}/history",
  "get /v1/memories/{id}/why",
  "get /v1/sessions",
  "get /v1/sessions/{id}",
  "get /v1/sessions/{id}/images/{image_id}",
  "get /v1/sessions/{id}/messages",
  "get /v1/sessions/{id}/thread",
  "patch /v1/memories/{id}",
  "patch /v1/sessions/{id}",
  "post /mcp",
  "post /v1/chat",
  "post /v1/chat/completions",
  "post /v1/context",
  "post /v1/history/search",
  "post /v1/import",
  "post /v1/memories",
  "post /v1/memories/batch",
  "post /v1/memories/search",
  "post /v1/memories/{id}/approve",
  "post /v1/responses",
  "post /v1/sessions",
  "post /v1/sessions/{id}/flush",
  "post /v1/sessions/{id}/fork",
  "post /v1/sessions/{id}/messages",
  "post /v1/sessions/{id}/restore",
  "post /v1/sessions/{id}/write-back/retry",
  "post /v1/ui/chat",
];

/** Lines, and what clients of OpenAI send. */
const TOLERANT: ReadonlySet<string> = new Set(["/v1/import", "/v1/chat/completions", "/v1/responses"]);

describe("/openapi.json", () => {
  test("is a valid OpenAPI 3.1 document", async () => {
    const response = await (await appOver(fakeApplication())).request("/openapi.json");
    expect(response.headers.get("Content-Type")).toBe("application/json");
    const result = await new Validator().validate((await response.json()) as Record<string, unknown>);
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
  });

  test("describes every route of the contract, each with a summary, its success and its problems", async () => {
    const document = (await (await (await appOver(fakeApplication())).request("/openapi.json")).json()) as {
      paths: Record<string, Record<string, { summary?: string; responses: Record<string, unknown> }>>;
    };
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ route: `${method} ${path}`, operation })),
    );
    expect(operations.map(({ route }) => route).sort()).toEqual(expect.arrayContaining(ROUTES));
    for (const { route, operation } of operations) {
      expect([route, operation.summary]).toEqual([route, expect.stringMatching(/\S/)]);
      expect([route, Object.keys(operation.responses)]).toEqual([route, expect.arrayContaining(["4XX", "5XX"])]);
      expect([route, Object.keys(operation.responses).some((status) => status.startsWith("2"))]).toEqual([route, true]);
    }
  });

  test("every JSON body refuses fields that are not its own, but for OpenAI's", async () => {
    const document = JSON.parse(await (await (await appOver(fakeApplication())).request("/openapi.json")).text()) as {
      components: { schemas: Record<string, { additionalProperties?: boolean }> };
      paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: { $ref?: string } }> } }>>;
    };
    const bodies = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { requestBody }]) => {
        const schema = TOLERANT.has(path) ? undefined : requestBody?.content["application/json"]?.schema;
        return schema === undefined ? [] : [{ route: `${method} ${path}`, name: schema.$ref?.split("/").at(-1) ?? "" }];
      }),
    );
    expect(bodies.length).toBeGreaterThan(6);
    for (const { route, name } of bodies) expect([route, document.components.schemas[name]?.additionalProperties]).toEqual([route, false]);
  });

  test("says what validation holds to: limits of a message, of a page, of ids", async () => {
    const text = await (await (await appOver(fakeApplication())).request("/openapi.json")).text();
    const document = JSON.parse(text) as {
      components: { schemas: Record<string, { properties: Record<string, object> }> };
      paths: Record<string, Record<string, { parameters: object[] }>>;
    };
    expect(document.components.schemas.ChatRequest?.properties.message).toMatchObject({ type: "string", minLength: 1, maxLength: 8000 });
    expect(document.paths["/v1/sessions"]?.get?.parameters).toContainEqual(
      expect.objectContaining({
        name: "limit",
        in: "query",
        required: false,
        schema: expect.objectContaining({ type: "integer", minimum: 1, maximum: 200, default: 20 }),
      }),
    );
    expect(document.paths["/v1/sessions/{id}"]?.get?.parameters).toContainEqual(
      expect.objectContaining({ name: "id", in: "path", schema: expect.objectContaining({ format: "uuid" }) }),
    );
  });
});
