import { expect, test } from "vitest";
import { fakeApplication } from "../support/fake-application.js";
import { appOver } from "../support/http-client.js";

test("/docs holds no script of its own and may load this server's files alone, which are kept for ever under their version", async () => {
  const app = await appOver(fakeApplication());
  const page = await app.request("/docs");
  const html = await page.text();
  expect([page.status, page.headers.get("Cache-Control")]).toEqual([200, "no-cache"]);
  const policy = page.headers.get("Content-Security-Policy") ?? "";
  expect(policy).toContain("script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'");
  expect(policy).not.toContain("unsafe");
  expect(html).not.toMatch(/<script(?![^>]* src=)/);
  const addresses = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? "");
  expect(addresses).toHaveLength(4);
  for (const address of addresses) {
    expect(address).toMatch(/^\/docs\/[0-9a-f]{16}\//);
    const file = await app.request(address);
    expect([file.status, file.headers.get("Cache-Control")]).toEqual([200, "public, max-age=31536000, immutable"]);
    expect((await app.request(address.replace(/[0-9a-f]{16}/, "0".repeat(16)))).status).toBe(404);
  }
  expect((await app.request("/docs/x/package.json")).status).toBe(404);
});
