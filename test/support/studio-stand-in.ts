import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { listen } from "../../src/http/server.js";
import { launchChromium } from "./chromium.js";
import { fakeApplication } from "./fake-application.js";
import { appOver } from "./http-client.js";
import { STUDIO_NOW, studioAnswer } from "./studio-fixtures.js";

export const STUDIO_TOKEN = "operate-0123456789";

/** What a test makes of the answers before they go out. */
export type Twist = (answer: unknown) => unknown;

export interface Operator {
  readonly page: Page;
  /** Errors of scripts and of the console, and what the page's policy stopped. */
  readonly complaints: readonly string[];
}

/** Studio over a port, behind its own door, with made-up answers in the place of the operator's routes. */
export interface StudioStandIn {
  readonly url: string;
  /** Requests that were answered, as they were decoded. */
  readonly asked: { readonly method: string; readonly path: readonly string[]; readonly query: string; readonly body: unknown }[];
  twist: Twist;
  /** Status with which every route answers instead, but the one that Studio begins with; null: none does. */
  failing: number | null;
  /** A browser on the page, not signed in. */
  visitor(options?: BrowserContextOptions): Promise<Operator>;
  /** One that is signed in, at a screen. */
  operator(screen: string, options?: BrowserContextOptions): Promise<Operator>;
  leave(): Promise<void>;
  close(): Promise<void>;
}

const BELOW = "/v1/operator/";

export async function openStudio(): Promise<StudioStandIn> {
  const app = await appOver(fakeApplication(), { config: { OPERATOR_TOKEN: STUDIO_TOKEN } });
  const answer = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    if (!url.pathname.startsWith(BELOW)) return app.fetch(request);
    // The door is the product's: what comes past it finds nothing there.
    const door = await app.fetch(new Request(new URL(`${BELOW}nothing`, url), { method: request.method, headers: request.headers }));
    if (door.status !== 404) return door;
    const path = url.pathname.slice(BELOW.length).split("/").map(decodeURIComponent);
    const body: unknown = request.method === "POST" ? await request.json() : null;
    studio.asked.push({ method: request.method, path, query: url.search, body });
    if (studio.failing !== null && path[0] !== "studio") {
      const problem = {
        code: "UNAVAILABLE",
        title: "It fails.",
        detail: "The store is away.",
        hint: "Wait for it.",
        status: studio.failing,
      };
      return Response.json(problem, { status: studio.failing });
    }
    if (request.method === "POST" && path[0] === "queues") return Response.json({}, { status: 202 });
    const found = studioAnswer({ path, query: url.searchParams, body });
    return found === undefined ? door : Response.json(studio.twist(found));
  };
  const server = await listen({ fetch: answer }, { host: "127.0.0.1", port: 0 });
  const browser: Browser = await launchChromium();
  const contexts: BrowserContext[] = [];
  const leave = async () => {
    for (const context of contexts.splice(0)) await context.close();
    studio.asked.length = 0;
    studio.twist = (plain) => plain;
    studio.failing = null;
  };
  const open = async (address: string, options: BrowserContextOptions, signedIn: boolean): Promise<Operator> => {
    const context = await browser.newContext({ reducedMotion: "reduce", timezoneId: "Europe/Berlin", locale: "en-GB", ...options });
    contexts.push(context);
    if (signedIn) {
      const answered = await context.request.post(`${server.address.url}/studio/session`, { data: { token: STUDIO_TOKEN } });
      if (answered.status() !== 204) throw new Error(`Signing in was answered with ${answered.status()}.`);
    }
    const complaints: string[] = [];
    await context.exposeFunction("complain", (text: string) => void complaints.push(text));
    await context.addInitScript(
      `addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => complain("policy: " + violatedDirective + " " + blockedURI))`,
    );
    const page = await context.newPage();
    await page.clock.setFixedTime(STUDIO_NOW);
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    await page.goto(`${server.address.url}/studio${address}`);
    await page.locator("h1").first().waitFor();
    return { page, complaints };
  };
  const studio: StudioStandIn = {
    url: server.address.url,
    asked: [],
    twist: (plain) => plain,
    failing: null,
    visitor: (options = {}) => open("", options, false),
    operator: (screen, options = {}) => open(`#/${screen}`, options, true),
    leave,
    async close() {
      await leave();
      await browser.close();
      await server.close({ graceMs: 0 });
    },
  };
  return studio;
}
