import { createHmac } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { createHttpApp } from "../../src/http/app.js";
import { STUDIO_SESSION_SECONDS } from "../../src/http/studio-pages.js";
import { silentLogger } from "../../src/platform/logger.js";
import { tempDir } from "../e2e/world.js";
import { fakeApplication, fakeOperator } from "../support/fake-application.js";
import { type AppOptions, appOver, fixedClock, json, LOCAL_CONFIG } from "../support/http-client.js";
import { AT } from "../support/samples.js";

const TOKEN = "operate-0123456789";
const OWN = "http://localhost";
const USERS = "/v1/operator/users";

const opened = (options: AppOptions = {}) => {
  const users = async () => ({ data: [], nextCursor: null });
  const config = { OPERATOR_TOKEN: TOKEN, ...options.config };
  return appOver(fakeApplication(), { operator: fakeOperator({ users }), ...options, config });
};
type App = Awaited<ReturnType<typeof opened>>;

const signIn = (app: App, token = TOKEN, headers: Record<string, string> = { Origin: OWN }) =>
  app.request("/studio/session", json("POST", { token }, headers));
const cookieOf = (response: Response) => response.headers.get("Set-Cookie")?.split(";")[0] ?? "";
const statusOf = async (app: App, path: string, headers: Record<string, string>, method = "GET") =>
  (await app.request(path, { method, headers })).status;

describe("without OPERATOR_TOKEN", () => {
  test("[operator-apart] Studio doesn't exist, whatever is asked for", async () => {
    const app = await opened({ config: { OPERATOR_TOKEN: undefined } });
    for (const path of ["/studio", "/studio/", "/studio/session", "/studio/0/studio.js", USERS])
      for (const method of ["GET", "POST", "DELETE", "PUT"])
        expect([method, path, await statusOf(app, path, { Origin: OWN, Cookie: "maitred_studio=x" }, method)]).toEqual([method, path, 404]);
  });
});

describe("Studio's page", () => {
  test("is served with its files, under a policy that lets nothing in but them", async () => {
    const app = await opened();
    const page = await app.request("/studio");
    const html = await page.text();
    expect([page.status, page.headers.get("Content-Type")]).toEqual([200, "text/html; charset=utf-8"]);
    const policy = page.headers.get("Content-Security-Policy") ?? "";
    for (const rule of ["default-src 'none'", "script-src 'self'", "require-trusted-types-for 'script'", "trusted-types 'none'"])
      expect(policy.split("; ")).toContain(rule);
    const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = ""]) => link);
    expect(links.map((link) => link.replace(/\/studio\/[0-9a-f]{16}\//, ""))).toEqual(["icon.svg", "studio.css", "studio.js"]);
    for (const link of links) {
      const file = await app.request(link);
      expect([link, file.status, file.headers.get("Cache-Control")]).toEqual([link, 200, expect.stringContaining("immutable")]);
    }
    expect(await statusOf(app, "/studio/0123456789abcdef/studio.js", {})).toBe(404);
    expect((await (await app.request("/")).text()).includes("studio")).toBe(false);
  });

  test("is made of its own modules and of six packages, and is small", async () => {
    const { bundle } = (await import(new URL("../../scripts/browser-bundles.mjs", import.meta.url).href)) as {
      readonly bundle: (folder: string) => Promise<{ readonly files: Record<string, string>; readonly inputs: readonly string[] }>;
    };
    const { files, inputs } = await bundle("studio");
    const packages = inputs.flatMap((path) => /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
    expect([...new Set(packages)].sort()).toEqual(["@preact/signals", "@preact/signals-core", "diff", "preact", "uplot", "zod"]);
    const own = inputs.filter((path) => !path.includes("node_modules/") && !path.startsWith("src/studio/"));
    const shared = ["base.css", "browser-store.ts", "controls.tsx", "format.ts", "problems.ts", "theme.ts", "tokens.css"];
    expect(own.sort()).toEqual([...shared, "use-answer.ts"].map((name) => `src/web/${name}`));
    for (const name of new Set(packages)) expect(files["LICENSES.txt"]).toContain(`${name}\n\n`);
    const bytes = gzipSync(files["studio.js"] ?? "").byteLength + gzipSync(files["studio.css"] ?? "").byteLength;
    expect(bytes).toBeLessThan(80_000);
  });

  test("stands below a base path", async () => {
    const app = await createHttpApp({
      application: fakeApplication(),
      config: { ...LOCAL_CONFIG, OPERATOR_TOKEN: TOKEN },
      logger: silentLogger,
      clock: fixedClock,
      operator: fakeOperator(),
      basePath: "/maitred",
    });
    const html = await (await app.request("/maitred/studio")).text();
    expect(html).toMatch(/src="\/maitred\/studio\/[0-9a-f]{16}\/studio.js"/);
    expect(html).toContain('data-base="/maitred"');
    const response = await app.request("/maitred/studio/session", json("POST", { token: TOKEN }, { Origin: OWN }));
    expect(response.headers.get("Set-Cookie")).toContain("Path=/maitred;");
    expect(await statusOf(app, "/studio", {})).toBe(404);
  });
});

describe("a session of Studio", () => {
  test("is a cookie that scripts can't read, that ends, and that is not the token", async () => {
    const response = await signIn(await opened());
    const cookie = response.headers.get("Set-Cookie") ?? "";
    expect([response.status, response.headers.get("Cache-Control")]).toEqual([204, "no-store"]);
    expect(cookie.split("; ").slice(1).sort()).toEqual(["HttpOnly", `Max-Age=${STUDIO_SESSION_SECONDS}`, "Path=/", "SameSite=Strict"]);
    expect(cookie).not.toContain(TOKEN);
  });

  test.each([
    ["the page's origin", { Origin: "https://maitred.example", Host: "maitred.example" }],
    ["a proxy", { "X-Forwarded-Proto": "https", Host: "maitred.example" }],
  ])("is sent over https alone where %s says https", async (_what, headers) => {
    const app = await opened({ config: { AUTH_MODE: "header" } });
    expect((await signIn(app, TOKEN, headers)).headers.get("Set-Cookie")).toContain("; Secure");
  });

  test("opens the operator's routes until it ends, and not once the token is another", async () => {
    let now = new Date(AT);
    const clock = { now: () => now };
    const app = await opened({ clock });
    const Cookie = cookieOf(await signIn(app));
    expect(await statusOf(app, USERS, { Cookie })).toBe(200);
    now = new Date(now.getTime() + STUDIO_SESSION_SECONDS * 1000 - 1000);
    expect(await statusOf(app, USERS, { Cookie })).toBe(200);
    expect(await statusOf(await opened({ clock, config: { OPERATOR_TOKEN: `${TOKEN}0` } }), USERS, { Cookie })).toBe(401);
    now = new Date(now.getTime() + 1000);
    expect(await statusOf(app, USERS, { Cookie })).toBe(401);
  });

  test("is taken back, by the server's own page", async () => {
    const app = await opened();
    const response = await app.request("/studio/session", { method: "DELETE", headers: { Origin: OWN } });
    expect([response.status, response.headers.get("Set-Cookie")]).toEqual([204, expect.stringContaining("maitred_studio=; Max-Age=0")]);
    expect(await statusOf(app, "/studio/session", { Origin: "http://evil.example" }, "DELETE")).toBe(403);
  });

  test("[hostile-input] [operator-apart] one that is forged, stretched, mangled or another server's opens nothing", async () => {
    const app = await opened();
    const good = cookieOf(await signIn(app)).slice("maitred_studio=".length);
    const [ends = "", mac = ""] = good.split(".");
    const forged = (secret: string, until: string) =>
      `${until}.${createHmac("sha256", secret).update(`maitred studio session, until ${until}`).digest("base64url")}`;
    expect(forged(TOKEN, ends)).toBe(good);
    const later = String(Number(ends) + 1);
    const values = [
      "",
      TOKEN,
      forged("another-0123456789", ends),
      forged("", ends),
      `${later}.${mac}`,
      `${ends}.${mac.slice(1)}`,
      `${ends}.${"A".repeat(43)}`,
      `${ends}.${mac}.`,
      `0${ends}.${mac}`,
      `-1.${mac}`,
      `1e99.${mac}`,
      `${ends}.`,
      `%00${good}`,
      `"${good}"x`,
      "x".repeat(4_000),
    ];
    for (const value of values) expect([value, await statusOf(app, USERS, { Cookie: `maitred_studio=${value}` })]).toEqual([value, 401]);
    expect(await statusOf(app, USERS, { Cookie: `other=${good}` })).toBe(401);
    // Who sends credentials of another kind is judged by those.
    expect(await statusOf(app, USERS, { Cookie: `maitred_studio=${good}`, Authorization: "Bearer nobody" })).toBe(401);
  });

  test("[operator-apart] on the users' routes it is nobody's", async () => {
    const app = await opened({ config: { AUTH_MODE: "api-key", API_KEYS_FILE: await keysFile() } });
    const headers = { Cookie: cookieOf(await signIn(app)), Origin: OWN };
    for (const [method, path] of [
      ["GET", "/v1/sessions"],
      ["GET", "/v1/me/export"],
      ["GET", "/v1/memories"],
      ["POST", "/v1/chat"],
      ["POST", "/mcp"],
      ["DELETE", "/v1/me?confirm=true"],
    ] as const)
      expect([path, await statusOf(app, path, headers, method)]).toEqual([path, 401]);
  });

  test("[operator-apart] changes something at the word of the server's own page alone", async () => {
    const app = await opened({
      config: { AUTH_MODE: "api-key", API_KEYS_FILE: await keysFile(), CORS_ORIGINS: ["http://partner.example"] },
    });
    const Cookie = cookieOf(await signIn(app));
    const tried = (headers: Record<string, string>) => statusOf(app, "/v1/operator/jobs/none", { Cookie, ...headers }, "DELETE");
    for (const Origin of ["http://evil.example", "http://partner.example", "null", "http://localhost.evil.example", "http://localhost:81"])
      expect([Origin, await tried({ Origin })]).toEqual([Origin, 403]);
    expect(await tried({})).toBe(403);
    expect(await tried({ Origin: OWN })).toBe(400);
  });
});

describe("signing in", () => {
  test("[hostile-input] takes the token, from the server's own page or from none, and nothing else", async () => {
    const app = await opened({ config: { AUTH_MODE: "header" } });
    expect((await signIn(app, TOKEN, {})).status).toBe(204);
    expect((await signIn(app, TOKEN, { Origin: "http://evil.example" })).status).toBe(403);
    const wrong = await signIn(app, `${TOKEN}0`);
    expect([wrong.status, wrong.headers.has("Set-Cookie"), wrong.headers.get("WWW-Authenticate")]).toEqual([
      401,
      false,
      expect.stringContaining("operator"),
    ]);
    for (const body of [{}, { token: 1 }, { token: "" }, { token: TOKEN, more: 1 }, [TOKEN], TOKEN, { token: "x".repeat(1025) }])
      expect([body, (await app.request("/studio/session", json("POST", body))).status]).toEqual([body, 400]);
    const form = { method: "POST", body: `token=${TOKEN}`, headers: { "Content-Type": "application/x-www-form-urlencoded" } };
    expect((await app.request("/studio/session", form)).status).toBe(415);
    expect((await app.request("/studio/session", json("POST", { token: "x".repeat(300_000) }))).status).toBe(413);
  });

  test("[limits-hold] is limited by a count of its own: who guesses keeps nobody from the routes", async () => {
    const app = await opened({ config: { RATE_LIMIT_PER_MINUTE: 2 } });
    const statuses = [];
    for (let count = 0; count < 3; count++) statuses.push((await signIn(app, "a wrong one")).status);
    expect(statuses).toEqual([401, 401, 429]);
    expect(await statusOf(app, USERS, { Authorization: `Bearer ${TOKEN}` })).toBe(200);
  });
});

async function keysFile(): Promise<string> {
  const file = join(await tempDir(), "keys.json");
  await writeFile(file, JSON.stringify([{ sha256: "0".repeat(64), user: "ada" }]));
  return file;
}
