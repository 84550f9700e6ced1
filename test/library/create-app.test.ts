import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApp, type MaitredApp } from "../../src/http.js";
import { createMaitred, type Maitred } from "../../src/index.js";

const BASE = "/guests/maitred";
const OPERATOR_TOKEN = "operate-0123456789";
let maitred: Maitred;
let app: MaitredApp;
beforeAll(async () => {
  maitred = await createMaitred({
    shortTermBackend: "memory",
    embeddingProvider: "hashing",
    recallDeadlineMs: 5_000,
    operatorToken: OPERATOR_TOKEN,
  });
  app = await createApp(maitred, {
    basePath: `${BASE}/`,
    identify: (request) => {
      const user = request.headers.get("X-Signed-In");
      return user === null ? null : { user, tenant: "acme", timeZone: "Europe/Rome" };
    },
  });
});
afterAll(() => maitred.close());

function ask(path: string, { user = "ada", ...init }: RequestInit & { readonly user?: string | null } = {}): Promise<Response> {
  const headers = { ...(user !== null && { "X-Signed-In": user }), "Content-Type": "application/json", ...init.headers };
  return app.fetch(new Request(`https://example.org${path}`, { ...init, headers }));
}
const says = (message: string, more: object = {}) => ({ method: "POST", body: JSON.stringify({ message, ...more }) });

describe("under a base path", () => {
  test("answers, whole and streamed, and names places as the client reaches them", async () => {
    const answer = await ask(`${BASE}/v1/chat`, says("Good evening."));
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ turn: 1 })]);
    const stream = await ask(`${BASE}/v1/chat`, says("Good evening.", { stream: true }));
    expect(await stream.text()).toMatch(/event: message\n/);
    const made = await ask(`${BASE}/v1/sessions`, { method: "POST", body: "{}" });
    expect(made.headers.get("Location")).toMatch(new RegExp(`^${BASE}/v1/sessions/[0-9a-f-]{36}$`));
    expect((await ask(made.headers.get("Location") ?? "")).status).toBe(200);
    expect((await ask(`${BASE}/v1/chat`)).headers.get("Allow")).toBe("OPTIONS, POST");
  });

  test("is nowhere else", async () => {
    for (const path of ["/v1/chat", "/", `${BASE}ure/v1/chat`, `/v1${BASE}/v1/chat`]) {
      const answer = await ask(path, says("Good evening."));
      expect([path, answer.status]).toEqual([path, 404]);
    }
  });

  test("its document and its page point there", async () => {
    const document = (await (await ask(`${BASE}/openapi.json`)).json()) as { servers: unknown };
    expect(document.servers).toEqual([{ url: BASE }]);
    for (const path of [BASE, `${BASE}/`]) {
      const page = await (await ask(path)).text();
      const links = [...page.matchAll(/(?:href|src)="([^"#]+)"/g)].map(([, link]) => link ?? "");
      expect(links.length).toBeGreaterThan(2);
      for (const link of links) expect([link, (await ask(link)).status]).toEqual([link, 200]);
    }
  });

  test("[operator-apart] the operator's door stands there too, beside the application's sign-in", async () => {
    const headers = { Authorization: `Bearer ${OPERATOR_TOKEN}` };
    expect((await ask(`${BASE}/v1/operator/users`, { user: null, headers })).status).toBe(200);
    expect((await ask(`${BASE}/v1/operator/users`)).status).toBe(401);
    expect((await ask(`${BASE}/v1/sessions`, { headers })).status).toBe(401);
    const job = { method: "POST", body: JSON.stringify({ kind: "retention", dry_run: true }), headers };
    const begun = await ask(`${BASE}/v1/operator/jobs`, { user: null, ...job });
    expect(begun.headers.get("Location")).toMatch(new RegExp(`^${BASE}/v1/operator/jobs/[0-9a-f-]{36}$`));
  });

  test("a base path that is none is refused", async () => {
    await expect(createApp(maitred, { basePath: "maitred" })).rejects.toMatchObject({ code: "INVALID_CONFIG" });
    await expect(createApp({ ...maitred })).rejects.toMatchObject({ code: "INVALID_CONFIG" });
  });
});

describe("with the application's own sign-in [identity-from-server]", () => {
  test("one user's is nobody else's, and it is the library's user of that tenant", async () => {
    const { session_id: id } = (await (await ask(`${BASE}/v1/chat`, { ...says("I'm Ben."), user: "ben" })).json()) as {
      session_id: string;
    };
    expect((await ask(`${BASE}/v1/sessions/${id}`)).status).toBe(404);
    expect(await maitred.for({ user: "ben", tenant: "acme" }).sessions.get(id)).toMatchObject({ id });
    const me = (await (await ask(`${BASE}/v1/me`, { user: "ben" })).json()) as object;
    expect(me).toMatchObject({ user: { tenant: "acme", id: "ben", time_zone: "Europe/Rome" } });
  });

  test("a nobody is 401, a name that can't be one 400, and X-User-Id counts for nothing", async () => {
    const nobody = await ask(`${BASE}/v1/me`, { user: null, headers: { "X-User-Id": "ada" } });
    expect([nobody.status, nobody.headers.get("WWW-Authenticate")]).toEqual([401, expect.stringContaining("maitred")]);
    expect((await ask(`${BASE}/v1/me`, { user: "*" })).status).toBe(400);
    expect((await ask(`${BASE}/healthz`, { user: null })).status).toBe(200);
  });

  test("a foreign page's request is refused", async () => {
    const headers = { "Sec-Fetch-Site": "cross-site", Origin: "https://elsewhere.example" };
    expect((await ask(`${BASE}/v1/chat`, { ...says("Good evening."), headers })).status).toBe(403);
  });

  test("without it everybody but this machine is kept out", async () => {
    const local = await createApp(maitred);
    expect((await local.fetch(new Request("https://example.org/v1/me"))).status).toBe(403);
    expect((await local.fetch(new Request("http://127.0.0.1/v1/me"))).status).toBe(200);
  });
});

describe("behind what an application has in front", () => {
  let server: Server;
  let url: string;
  beforeAll(async () => {
    server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  test("Node's own server", async () => {
    const headers = { "Content-Type": "application/json", "X-Signed-In": "ada" };
    const answer = await fetch(`${url}${BASE}/v1/chat`, { ...says("Good evening."), headers });
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ turn: 1 })]);
  });

  test("another Hono", async () => {
    const hono = new Hono();
    hono.get("/", (c) => c.text("ours"));
    hono.all(`${BASE}/*`, (c) => app.fetch(c.req.raw));
    const headers = { "Content-Type": "application/json", "X-Signed-In": "ada" };
    expect((await hono.request(`${BASE}/v1/chat`, { ...says("Good evening."), headers })).status).toBe(200);
    expect(await (await hono.request("/")).text()).toBe("ours");
  });
});
