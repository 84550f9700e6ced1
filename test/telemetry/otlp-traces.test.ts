import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { parseConfig } from "../../src/compose/config.js";
import { openTraces } from "../../src/compose/telemetry.js";
import { silentLogger } from "../../src/platform/logger.js";
import { startWorld, tempDir } from "../e2e/world.js";
import { freePort } from "../support/free-port.js";
import { SLOW } from "../support/projects.js";
import { TaskModel } from "../support/task-model.js";

interface Received {
  readonly path: string | undefined;
  readonly body: {
    readonly resourceSpans: readonly {
      readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[] };
      readonly scopeSpans: readonly { readonly spans: readonly { readonly name: string }[] }[];
    }[];
  };
}

/** A collector that takes what it is sent. */
async function collector(): Promise<{ readonly url: string; readonly received: Received[] }> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    received.push({ path: request.url, body: JSON.parse(Buffer.concat(parts).toString()) as Received["body"] });
    response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

let traces: Awaited<ReturnType<typeof openTraces>> = null;
afterEach(async () => {
  await traces?.stop();
  traces = null;
});

test("with OTEL_EXPORTER_OTLP_ENDPOINT a server's traces are at the collector when it has stopped", async () => {
  const { url, received } = await collector();
  traces = await openTraces(parseConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/` }), silentLogger);
  const world = await startWorld(await tempDir(), {}, { model: new TaskModel() });
  await world.as("ada").say("Good evening.");
  await world.stop();
  await traces?.stop();
  expect(new Set(received.map(({ path }) => path))).toEqual(new Set(["/v1/traces"]));
  const all = received.flatMap(({ body }) => body.resourceSpans);
  const service = all[0]?.resource.attributes.find(({ key }) => key === "service.name");
  expect(service?.value.stringValue).toBe("maitred");
  const names = all.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans.map(({ name }) => name)));
  expect(names).toEqual(expect.arrayContaining(["invoke_agent concierge", "recall", "chat by task", "write_back"]));
});

test("a collector that is away costs the spans and a line in the log, and the turn nothing", { tags: [SLOW] }, async () => {
  const lines: [object, string][] = [];
  const logger = { ...silentLogger, warn: (fields: object, message: string) => void lines.push([fields, message]) };
  traces = await openTraces(parseConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}` }), logger);
  const world = await startWorld(await tempDir(), {}, { model: new TaskModel() });
  expect((await world.as("ada").post("/v1/chat", { message: "Good evening." })).status).toBe(200);
  await traces?.stop();
  expect(lines).toContainEqual([{}, "traces could not be sent"]);
});

test("without the variable nothing is sent, and an address that is none is refused", async () => {
  expect(await openTraces(parseConfig({}), silentLogger)).toBeNull();
  expect(() => parseConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" })).toThrow(/OTEL_EXPORTER_OTLP_ENDPOINT/);
});
