import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Owner } from "../../src/domain/owner.js";
import type { HttpConfig } from "../../src/http/app.js";
import { openJwtAuth } from "../../src/http/auth.js";
import { requireLoopback } from "../../src/http/auth-local.js";
import { fakeApplication } from "../support/fake-application.js";
import { appOver, fixedClock } from "../support/http-client.js";
import { AT } from "../support/samples.js";

/** Answers `GET /v1/me` and tells who it was. */
async function appWho(config: Partial<HttpConfig>) {
  const seen: { owner: Owner; seen: object }[] = [];
  const app = await appOver(fakeApplication({ user: async () => null, seen: (owner, given) => void seen.push({ owner, seen: given }) }), {
    config,
  });
  return {
    seen,
    async who(headers: Record<string, string> = {}, path = "/v1/me", method = "GET") {
      const response = await app.request(path, { method, headers });
      const body = (await response.json()) as { user?: { tenant: string; id: string }; code?: string };
      return {
        status: response.status,
        user: body.user && `${body.user.tenant}/${body.user.id}`,
        code: body.code,
        headers: response.headers,
      };
    },
  };
}

describe("local mode [local-mode-loopback] [identity-from-server]", () => {
  test("X-User-Id is the user, else local-user; user:x is x; UTF-8 bytes are read as such", async () => {
    const { who, seen } = await appWho({});
    expect((await who()).user).toBe("default/local-user");
    expect((await who({ "X-User-Id": "ada" })).user).toBe("default/ada");
    expect((await who({ "X-User-Id": "user:ada" })).user).toBe("default/ada");
    expect((await who({ "X-User-Id": Buffer.from("Zoë").toString("latin1"), "X-Timezone": "Asia/Tokyo" })).user).toBe("default/Zoë");
    expect(seen.at(-1)).toEqual({ owner: "default:Zo%C3%AB", seen: { provider: "local", timeZone: "Asia/Tokyo" } });
  });

  test.each(["", "*", "a b", "a\tb", "x".repeat(257), "user:", "user:*", "a\u00a0b"])(
    "the user id %j is 400 INVALID_USER_ID [owner-reserved]",
    async (id) => {
      const { who } = await appWho({});
      expect(await who({ "X-User-Id": id })).toMatchObject({ status: 400, code: "INVALID_USER_ID" });
    },
  );

  test.each(["localhost", "localhost:3000", "127.0.0.1:3000", "127.8.9.1", "[::1]:3000", "LOCALHOST"])(
    "the Host %s is this machine",
    async (host) => {
      const { who } = await appWho({});
      expect((await who({ Host: host })).status).toBe(200);
    },
  );

  test.each([
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil.example:3000",
    "0.0.0.0",
    "192.168.1.7",
    "127.0.0.1@evil.example",
    "[::2]",
    "",
  ])("the Host %j may be a rebound name: 403", async (host) => {
    const { who } = await appWho({});
    expect(await who({ Host: host })).toMatchObject({ status: 403, code: "FORBIDDEN_ORIGIN" });
  });

  test("the page and the document are guarded like the API", async () => {
    const app = await appOver(fakeApplication());
    for (const path of ["/", "/openapi.json", "/healthz"]) {
      expect((await app.request(path)).status).toBe(200);
      expect((await app.request(path, { headers: { Host: "evil.example" } })).status).toBe(403);
    }
  });

  test.each([
    [{ Origin: "http://localhost:3000", Host: "localhost:3000" }, 200],
    [{ Origin: "https://evil.example", Host: "localhost:3000" }, 403],
    [{ Origin: "http://localhost:9999", Host: "localhost:3000" }, 403],
    [{ Origin: "null", Host: "localhost:3000" }, 403],
    [{ "Sec-Fetch-Site": "cross-site", Host: "localhost:3000" }, 403],
    [{ "Sec-Fetch-Site": "same-origin", Host: "localhost:3000" }, 200],
  ])("%j is answered with %i", async (headers, status) => {
    const { who } = await appWho({});
    expect((await who(headers as Record<string, string>)).status).toBe(status);
  });

  test("an origin that is configured may call, and hears that it may; others get no CORS header", async () => {
    const { who } = await appWho({ CORS_ORIGINS: ["https://shop.example"] });
    const allowed = await who({ Origin: "https://shop.example" });
    expect(allowed.status).toBe(200);
    expect(allowed.headers.get("Access-Control-Allow-Origin")).toBe("https://shop.example");
    const { who: closed } = await appWho({});
    expect((await closed({ Origin: "https://shop.example" })).headers.get("Access-Control-Allow-Origin")).toBeNull();
  });

  test("a configured origin's preflight and its problems carry CORS headers; another origin's preflight is refused", async () => {
    const app = await appOver(fakeApplication(), { config: { CORS_ORIGINS: ["https://shop.example"] } });
    const preflight = (origin: string) =>
      app.request("/v1/chat", {
        method: "OPTIONS",
        headers: { Origin: origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "idempotency-key" },
      });
    const allowed = await preflight("https://shop.example");
    expect([allowed.status, allowed.headers.get("Access-Control-Allow-Origin")]).toEqual([204, "https://shop.example"]);
    expect(allowed.headers.get("Access-Control-Allow-Headers")).toContain("Idempotency-Key");
    expect((await preflight("https://evil.example")).status).toBe(403);
    const problem = await app.request("/v1/chat", {
      method: "POST",
      body: "{",
      headers: { Origin: "https://shop.example", "Content-Type": "application/json" },
    });
    expect([problem.status, problem.headers.get("Access-Control-Allow-Origin")]).toEqual([400, "https://shop.example"]);
    expect(problem.headers.get("Access-Control-Expose-Headers")).toContain("X-Request-Id");
  });

  test("a form that another page posts is refused by its content type, also without an Origin", async () => {
    const app = await appOver(fakeApplication());
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      const response = await app.request("/v1/chat", { method: "POST", body: '{"message":"a"}', headers: { "Content-Type": type } });
      expect(response.status).toBe(415);
    }
  });

  test("the server may bind to loopback only; other modes may bind anywhere", () => {
    for (const host of ["127.0.0.1", "localhost", "::1"]) expect(() => requireLoopback("local", host)).not.toThrow();
    for (const host of ["0.0.0.0", "::", "192.168.1.7", "example.org"]) expect(() => requireLoopback("local", host)).toThrow(/HOST/);
    expect(() => requireLoopback("jwt", "0.0.0.0")).not.toThrow();
  });
});

describe("header mode [identity-from-server]", () => {
  test("the proxy's header is the user; without it 401 with a challenge; X-User-Id means nothing", async () => {
    const { who, seen } = await appWho({ AUTH_MODE: "header" });
    expect((await who({ "X-MS-CLIENT-PRINCIPAL-ID": "ada", "X-User-Id": "eve" })).user).toBe("default/ada");
    const refused = await who({ "X-User-Id": "eve" });
    expect(refused).toMatchObject({ status: 401, code: "UNAUTHENTICATED" });
    expect(refused.headers.get("WWW-Authenticate")).toMatch(/^Proxy /);
    await who({ "X-MS-CLIENT-PRINCIPAL-ID": "ada", "X-MS-CLIENT-PRINCIPAL-NAME": "Ada L.", "X-MS-CLIENT-PRINCIPAL-IDP": "aad" });
    expect(seen.at(-1)?.seen).toEqual({ displayName: "Ada L.", provider: "aad" });
  });

  test("a header sent twice names nobody", async () => {
    const app = await appOver(fakeApplication({ user: async () => null }), { config: { AUTH_MODE: "header", AUTH_HEADER: "X-Who" } });
    const headers = new Headers([
      ["X-Who", "ada"],
      ["X-Who", "eve"],
    ]);
    expect((await app.request("/v1/me", { headers })).status).toBe(400);
  });

  test("an unsafe request of another site is refused, as its cookies came along", async () => {
    const { who } = await appWho({ AUTH_MODE: "header" });
    const headers = { "X-MS-CLIENT-PRINCIPAL-ID": "ada", "Sec-Fetch-Site": "cross-site" };
    expect((await who(headers, "/v1/me?confirm=true", "DELETE")).status).toBe(403);
  });

  test.each([
    [403, { Origin: "https://evil.example" }],
    [403, { Origin: "null" }],
    [403, { Origin: "https://app.example", "Sec-Fetch-Site": "cross-site" }],
    [404, { Origin: "https://app.example" }],
    [404, { Origin: "https://chat.example", "X-Forwarded-Host": "chat.example" }],
    [404, { Origin: "https://partner.example" }],
    [404, { Origin: "https://evil.example", "Sec-Fetch-Site": "same-origin" }],
    [404, {}],
  ])("an unsafe request is answered with %i where the browser says %j", async (status, said) => {
    const { who } = await appWho({ AUTH_MODE: "header", CORS_ORIGINS: ["https://partner.example"] });
    const headers = { "X-MS-CLIENT-PRINCIPAL-ID": "ada", Host: "app.example", ...said } as Record<string, string>;
    expect((await who(headers, "/v1/nowhere", "POST")).status).toBe(status);
  });
});

describe("api-key mode [identity-from-server]", () => {
  let dir: string;
  const adaKey = randomBytes(24).toString("base64url");
  const backendKey = randomBytes(24).toString("base64url");
  const sha256 = (key: string) => createHash("sha256").update(key).digest("hex");
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "maitred-keys-"));
    await writeFile(
      join(dir, "keys.json"),
      JSON.stringify([
        { sha256: sha256(adaKey), tenant: "acme", user: "ada" },
        { sha256: sha256(backendKey).toUpperCase(), tenant: "shop", user: null },
      ]),
    );
  });
  afterAll(() => rm(dir, { recursive: true }));
  const mode = () => ({ AUTH_MODE: "api-key" as const, API_KEYS_FILE: join(dir, "keys.json") });

  test("a key is its tenant's user, whatever X-User-Id says; a trusted backend names the user itself", async () => {
    const { who } = await appWho(mode());
    expect((await who({ Authorization: `Bearer ${adaKey}`, "X-User-Id": "eve" })).user).toBe("acme/ada");
    expect((await who({ Authorization: `bearer ${backendKey}`, "X-User-Id": "bo" })).user).toBe("shop/bo");
    expect(await who({ Authorization: `Bearer ${backendKey}` })).toMatchObject({ status: 400, code: "INVALID_USER_ID" });
    expect(await who({ Authorization: `Bearer ${backendKey}`, "X-User-Id": "*" })).toMatchObject({ status: 400, code: "INVALID_USER_ID" });
  });

  test.each([
    ["no header", {}],
    ["an unknown key", { Authorization: "Bearer nonsense" }],
    ["another scheme", { Authorization: `Basic ${adaKey}` }],
    ["the hash instead of the key", { Authorization: `Bearer ${sha256(adaKey)}` }],
  ])("%s is 401 with a challenge", async (_name, headers) => {
    const { who } = await appWho(mode());
    const refused = await who(headers as Record<string, string>);
    expect(refused).toMatchObject({ status: 401, code: "UNAUTHENTICATED" });
    expect(refused.headers.get("WWW-Authenticate")).toBe('Bearer realm="maitred"');
  });

  test.each([
    ["is not there", null, /can't be read/],
    ["is not JSON", "{", /not JSON/],
    ["is empty", "[]", /API_KEYS_FILE/],
    ["holds a key instead of its hash", '[{"sha256":"secret","tenant":"a","user":"b"}]', /64 hexadecimal digits/],
    ["holds a key twice", JSON.stringify(["a", "A"].map((digit) => ({ sha256: digit.repeat(64), tenant: "t", user: digit }))), /same key/],
    ["names a reserved user", `[{"sha256":"${"0".repeat(64)}","tenant":"a","user":"*"}]`, /user id/],
  ])("a keys file that %s stops the start", async (_name, text, message) => {
    const path = join(dir, `${randomBytes(4).toString("hex")}.json`);
    if (text !== null) await writeFile(path, text);
    await expect(appWho({ AUTH_MODE: "api-key", API_KEYS_FILE: path })).rejects.toThrow(message);
  });
});

describe("jwt mode [identity-from-server]", () => {
  const secretText = "a shared secret for tests, of more than the 64 bytes that the longest of the algorithms wants";
  const secret = new TextEncoder().encode(secretText);
  const now = Math.floor(new Date(AT).getTime() / 1000);
  const mode: Partial<HttpConfig> = { AUTH_MODE: "jwt", JWT_SECRET: secretText, JWT_ISSUER: "https://id.example", JWT_AUDIENCE: "maitred" };
  const token = (claims: Record<string, unknown> = {}, header: { alg: string; kid?: string } = { alg: "HS256" }) =>
    new SignJWT({ sub: "ada", iss: "https://id.example", aud: "maitred", iat: now, exp: now + 600, ...claims }).setProtectedHeader(header);

  test("sub is the user and the tenant claim the tenant; name and issuer are noted", async () => {
    const { who, seen } = await appWho(mode);
    const jwt = await token({ tenant: "acme", name: "Ada L." }).sign(secret);
    expect((await who({ Authorization: `Bearer ${jwt}`, "X-User-Id": "eve" })).user).toBe("acme/ada");
    expect(seen).toEqual([{ owner: "acme:ada", seen: { displayName: "Ada L.", provider: "https://id.example" } }]);
  });

  test.each([
    ["expired", () => token({ exp: now - 60 }).sign(secret)],
    ["not valid yet", () => token({ nbf: now + 60 }).sign(secret)],
    ["for another audience", () => token({ aud: "elsewhere" }).sign(secret)],
    ["of another issuer", () => token({ iss: "https://evil.example" }).sign(secret)],
    ["without an expiry", () => token({ exp: undefined }).sign(secret)],
    ["without a subject", () => token({ sub: undefined }).sign(secret)],
    ["signed with another secret", () => token().sign(new TextEncoder().encode("another secret of more than 32 bytes!!!!"))],
    [
      "not signed (alg none)",
      async () => new UnsecuredJWT({ sub: "ada", iss: "https://id.example", aud: "maitred", exp: now + 600 }).encode(),
    ],
    ["of an algorithm that is not pinned (HS512)", () => token({}, { alg: "HS512" }).sign(secret)],
    ["not a token at all", async () => "a.b.c"],
  ])("a token that is %s is 401", async (_name, make) => {
    const { who } = await appWho(mode);
    const refused = await who({ Authorization: `Bearer ${await make()}` });
    expect(refused).toMatchObject({ status: 401, code: "UNAUTHENTICATED" });
    expect(refused.headers.get("WWW-Authenticate")).toContain("Bearer");
  });

  test("[owner-isolation] a subject is taken as it is: user:ada is another than ada", async () => {
    const { who } = await appWho(mode);
    expect((await who({ Authorization: `Bearer ${await token({ sub: "user:ada" }).sign(secret)}` })).user).toBe("default/user:ada");
  });

  test("where every subject begins alike, the user is what comes behind it, and any other is nobody", async () => {
    const { who } = await appWho({ ...mode, JWT_SUBJECT_PREFIX: "user:" });
    expect((await who({ Authorization: `Bearer ${await token({ sub: "user:ada" }).sign(secret)}` })).user).toBe("default/ada");
    expect((await who({ Authorization: `Bearer ${await token({ sub: "ada" }).sign(secret)}` })).status).toBe(401);
  });

  test("a reserved subject is 400, a tenant that is not text 401", async () => {
    const { who } = await appWho(mode);
    expect((await who({ Authorization: `Bearer ${await token({ sub: "*" }).sign(secret)}` })).status).toBe(400);
    expect((await who({ Authorization: `Bearer ${await token({ tenant: ["a"] }).sign(secret)}` })).status).toBe(401);
  });

  test("a short secret, and a secret beside a key address, stop the start", async () => {
    await expect(appWho({ ...mode, JWT_SECRET: "short" })).rejects.toThrow(/32 bytes/);
    await expect(appWho({ ...mode, JWKS_URL: "http://127.0.0.1:1/" })).rejects.toThrow(/either/);
  });

  describe("with keys at an address", () => {
    let server: Server;
    let keys: object[] = [];
    let fetches = 0;
    let down = false;
    const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
    beforeAll(async () => {
      server = createServer((_request, response) => {
        fetches += 1;
        response.statusCode = down ? 500 : 200;
        response.end(JSON.stringify({ keys }));
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    });
    afterAll(() => server.close());
    afterEach(() => {
      down = false;
      fetches = 0;
    });

    async function keyPair(kid: string) {
      const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
      return {
        jwk: { ...(await exportJWK(publicKey)), kid, alg: "RS256", use: "sig" },
        publicKey,
        sign: () => token({}, { alg: "RS256", kid }).sign(privateKey),
      };
    }
    const remote = () =>
      openJwtAuth(
        {
          ...mode,
          JWT_SECRET: undefined,
          JWKS_URL: url(),
          JWT_ISSUER: "https://id.example",
          JWT_AUDIENCE: "maitred",
          JWT_TENANT_CLAIM: "tenant",
          JWT_SUBJECT_PREFIX: undefined,
        },
        fixedClock,
        { cooldownMs: 0 },
      );
    const ask = async (auth: ReturnType<typeof remote>, jwt: string) =>
      auth.identify({
        method: "GET",
        url: "http://x/",
        request: new Request("http://x/"),
        header: (name) => (name === "Authorization" ? `Bearer ${jwt}` : undefined),
      });

    test("keys are fetched once and kept; a rotated key is found; the old one no longer counts", async () => {
      const first = await keyPair("k1");
      const second = await keyPair("k2");
      keys = [first.jwk];
      const auth = remote();
      const old = await first.sign();
      expect((await ask(auth, old)).owner).toBe("default:ada");
      await ask(auth, old);
      expect(fetches).toBe(1);
      keys = [second.jwk];
      expect((await ask(auth, await second.sign())).owner).toBe("default:ada");
      expect(fetches).toBe(2);
      await expect(ask(auth, old)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    });

    test("a public key used as a shared secret is no signature (algorithm confusion)", async () => {
      const pair = await keyPair("k1");
      keys = [pair.jwk];
      const pem = new TextEncoder().encode(await exportSPKI(pair.publicKey));
      const forged = await token({}, { alg: "HS256", kid: "k1" }).sign(pem);
      await expect(ask(remote(), forged)).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    });

    test("a key server that is down is 503, not the caller's fault", async () => {
      const pair = await keyPair("k1");
      down = true;
      await expect(ask(remote(), await pair.sign())).rejects.toMatchObject({ code: "IDENTITY_UNAVAILABLE", status: 503 });
    });
  });
});
