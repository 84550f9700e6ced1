import type { Browser, BrowserContext, Page } from "playwright-core";
import { listen, type RunningServer } from "../../src/http/server.js";
import { launchChromium } from "./chromium.js";
import { appOver } from "./http-client.js";
import { type SampleApplication, type SampleReply, sampleApplication } from "./sample-application.js";

/** The page over the sample application, whose answers a test chooses. Started once for a file; each guest is another user. */
export interface SamplePage {
  readonly sample: SampleApplication;
  readonly url: string;
  /** A new browser window on the page. `complaints`: errors of scripts and of the console. */
  guest(
    user: string,
    setUp?: (context: BrowserContext) => Promise<unknown>,
  ): Promise<{ readonly page: Page; readonly complaints: string[] }>;
  leave(): Promise<void>;
  close(): Promise<void>;
}

export async function openSamplePage(replyTo: (message: string) => SampleReply): Promise<SamplePage> {
  const sample = sampleApplication(replyTo);
  const server: RunningServer = await listen(await appOver(sample.application), { host: "127.0.0.1", port: 0 });
  const browser: Browser = await launchChromium();
  const contexts: BrowserContext[] = [];
  const leave = async () => {
    for (const context of contexts.splice(0)) await context.close();
  };
  return {
    sample,
    url: server.address.url,
    leave,
    async guest(user, setUp) {
      const context = await browser.newContext();
      contexts.push(context);
      await context.addInitScript(`localStorage.setItem("maitred.user", ${JSON.stringify(user)})`);
      await setUp?.(context);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on("pageerror", (error) => complaints.push(error.message));
      page.on("console", (message) => {
        if (message.type() === "error") complaints.push(message.text());
      });
      await page.goto(server.address.url);
      await page.waitForSelector(".welcome");
      return { page, complaints };
    },
    async close() {
      await leave();
      await browser.close();
      await server.close({ graceMs: 0 });
    },
  };
}

export async function say(page: Page, message: string): Promise<void> {
  await page.fill("#message", message);
  await page.press("#message", "Enter");
}

/** Says it, and waits for the whole answer. */
export async function ask(page: Page, message: string): Promise<void> {
  const before = await page.locator(".turn.assistant.complete").count();
  await say(page, message);
  await page.locator(".turn.assistant.complete").nth(before).waitFor();
}

export const lastAnswer = (page: Page) => page.locator(".turn.assistant").last();
