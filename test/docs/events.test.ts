import type { IncomingMessage, Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { runInNewContext } from "node:vm";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import { read } from "../../site/pages.js";
import type { ToldEvent } from "../../src/ports/events.js";
import { startWorld, tempDir } from "../e2e/world.js";
import { parseEvents } from "../support/http-client.js";
import { WEBHOOK_SECRET } from "../support/webhook-receiver.js";

/** The programs of docs/events.md, run as they are printed there. */
const programs = [...read("docs/events.md").matchAll(/```js\n([\s\S]*?)```/g)].map(([, code = ""]) =>
  code.replaceAll(/^import .*\n/gm, ""),
);
const [following = "", receiving = ""] = programs;

interface Express {
  (): { listen(port: number, host: string): Server };
  text(options: { readonly type: string }): (request: IncomingMessage) => void;
}

/** As the MCP SDK brings it along. */
function express(): Express {
  const require = createRequire(import.meta.url);
  return createRequire(require.resolve("@modelcontextprotocol/sdk/server/mcp.js"))("express") as Express;
}

test("a page is told of its user's memories by EventSource", async () => {
  const world = await startWorld(await tempDir());
  const reading = new AbortController();
  onTestFinished(() => reading.abort());
  const told: string[] = [];
  /** A browser's, as far as the page uses it. */
  class EventSource extends EventTarget {
    constructor(path: string) {
      super();
      this.#read(path).catch((error: unknown) => reading.signal.aborted || told.push(String(error)));
    }

    async #read(path: string): Promise<void> {
      const headers = { "X-User-Id": "ada", Accept: "text/event-stream" };
      const response = await world.app.request(path, { headers, signal: reading.signal });
      let rest = "";
      for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        rest += chunk;
        const end = rest.lastIndexOf("\n\n") + 2;
        for (const { event, data } of parseEvents(rest.slice(0, end))) {
          told.push(event ?? "");
          this.dispatchEvent(Object.assign(new Event(event ?? "message"), { data: JSON.stringify(data) }));
        }
        rest = rest.slice(end);
      }
    }
  }
  const shown: string[] = [];
  runInNewContext(following, { EventSource, show: (id: string) => shown.push(id) });
  await expect.poll(() => told).toEqual(["ready"]);
  const { body } = await world.as("ada").post<{ id: string }>("/v1/memories", { text: "Prefers aisle seats" });
  await world.as("bob").post("/v1/memories", { text: "Prefers the balcony" });
  await expect.poll(() => shown).toEqual([body.id]);
});

test("a receiver takes each event of Maitred's once, and nothing of anybody else's", async () => {
  const library = express();
  const app = library();
  const queue: ToldEvent[] = [];
  const isNew = (id: string) => queue.every((event) => event.id !== id);
  runInNewContext(receiving, { Webhook, process: { env: { WEBHOOK_SECRET } }, app, express: library, isNew, queue });
  const server = app.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await expect.poll(() => server.listening).toBe(true);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const world = await startWorld(await tempDir(), { WEBHOOK_URL: url, WEBHOOK_SECRET });
  const { body } = await world.as("ada").post<{ id: string }>("/v1/memories", { text: "Prefers aisle seats" });
  await expect
    .poll(() => queue.map(({ type, data }) => [type, data]))
    .toEqual([["memory.added", expect.objectContaining({ memory_id: body.id })]]);

  const text = JSON.stringify(queue[0]);
  const post = async (id: string, signature: string, at: Date) => {
    const headers = { "webhook-id": id, "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)), "webhook-signature": signature };
    return (await fetch(url, { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: text })).status;
  };
  const now = new Date();
  expect(await post("again", new Webhook(WEBHOOK_SECRET).sign("again", now, text), now)).toBe(204);
  expect(await post("forged", "v1,AAAA", now)).toBe(500);
  expect(queue).toHaveLength(1);
});

test("these are all that the page has", () => {
  expect(programs).toHaveLength(2);
});
