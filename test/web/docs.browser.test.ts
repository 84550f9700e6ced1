import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHttpApp } from "../../src/http/app.js";
import { listen } from "../../src/http/server.js";
import { silentLogger } from "../../src/platform/logger.js";
import { launchChromium } from "../support/chromium.js";
import { fakeApplication } from "../support/fake-application.js";
import { fixedClock, LOCAL_CONFIG } from "../support/http-client.js";
import { needing } from "../support/needing.js";

needing("chromium")("the API's document in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  test.each(["", "/maitred"])("below %j is rendered with its operations and schemas, from this server alone", async (basePath) => {
    const parts = { application: fakeApplication(), config: LOCAL_CONFIG, logger: silentLogger, clock: fixedClock, basePath };
    const server = await listen(await createHttpApp(parts), { host: "127.0.0.1", port: 0 });
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      const complaints: string[] = [];
      const asked: string[] = [];
      page.on("pageerror", (error) => complaints.push(error.message));
      page.on("console", (message) => {
        if (["error", "warning"].includes(message.type())) complaints.push(message.text());
      });
      page.on("request", (request) => asked.push(request.url()));
      await page.goto(`${server.address.url}${basePath}/docs`);
      await page.waitForSelector(".opblock");
      const operations = await page.locator(".opblock .opblock-summary-path").allInnerTexts();
      // Swagger UI lets long paths break anywhere.
      expect(operations.map((path) => path.replaceAll("\u200b", ""))).toEqual(expect.arrayContaining(["/v1/chat", "/v1/memories/search"]));
      await page.locator("#operations-Chat-chat .opblock-summary-control").click();
      await page.getByText("IDEMPOTENCY_KEY_REUSED").first().waitFor();
      expect(complaints).toEqual([]);
      expect(asked.filter((url) => !url.startsWith(`${server.address.url}/`) && !url.startsWith("data:"))).toEqual([]);
    } finally {
      await context.close();
      await server.close({ graceMs: 0 });
    }
  });
});
