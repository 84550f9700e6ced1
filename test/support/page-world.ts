import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { Overrides } from "../../src/compose/compose.js";
import { listen, type RunningServer } from "../../src/http/server.js";
import { openWorld, type World } from "../e2e/world.js";
import { launchChromium } from "./chromium.js";

/** A guest's browser on the page, and what it complained of. */
export interface Guest {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts, and what the browser's console has as errors. */
  readonly complaints: readonly string[];
  /** Another tab of the same browser. */
  tab(path?: string): Promise<Page>;
}

/** The whole product over a port, with a browser that opens its page. Started once for a file; each test brings its own guest. */
export interface PageWorld {
  readonly world: World;
  readonly url: string;
  guest(user: string, options?: BrowserContextOptions & { readonly path?: string }): Promise<Guest>;
  /** Closes the guests' browsers; the server goes on. */
  leave(): Promise<void>;
  close(): Promise<void>;
}

export async function openPageWorld(variables: Readonly<Record<string, string>> = {}, overrides: Overrides = {}): Promise<PageWorld> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-page-"));
  const world = await openWorld(dir, variables, overrides);
  const server: RunningServer = await listen(world.app, { host: "127.0.0.1", port: 0 });
  const browser: Browser = await launchChromium();
  const contexts: BrowserContext[] = [];
  const { url } = server.address;
  const leave = async () => {
    for (const context of contexts.splice(0)) await context.close();
  };
  return {
    world,
    url,
    leave,
    async guest(user, { path = "", ...options } = {}) {
      const context = await browser.newContext(options);
      contexts.push(context);
      await context.addInitScript(`localStorage.setItem("maitred.user", localStorage.getItem("maitred.user") ?? ${JSON.stringify(user)})`);
      const complaints: string[] = [];
      const tab = async (at = "") => {
        const page = await context.newPage();
        page.on("pageerror", (error) => complaints.push(error.message));
        page.on("console", (message) => {
          if (message.type() === "error") complaints.push(message.text());
        });
        await page.goto(url + at);
        await page.locator(".welcome, .turn").first().waitFor();
        return page;
      };
      return { context, page: await tab(path), complaints, tab };
    },
    async close() {
      await leave();
      await browser.close();
      await server.close({ graceMs: 0 });
      await world.application.close({ drainMs: 0 });
      await rm(dir, { recursive: true, force: true });
    },
  };
}
