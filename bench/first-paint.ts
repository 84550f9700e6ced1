import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Browser } from "playwright-core";
import { openChildServer } from "../test/support/child-server.js";
import { launchChromium } from "../test/support/chromium.js";
import { freePort } from "../test/support/free-port.js";
import { median, quantile } from "./quantile.js";

/**
 * What a guest waits for when the page is opened for the first time: until something is painted, and until one may write. Each look has a
 * browser context of its own, with an empty cache, at a built server in a process of its own.
 *
 * `npm run build && npm run bench:first-paint [-- --beside DIR]`: `--beside` another checkout that is built as well, looked at by turns.
 */
const LOOKS = 25;
const { values } = parseArgs({ options: { beside: { type: "string" } } });
const checkouts = [join(import.meta.dirname, ".."), ...(values.beside === undefined ? [] : [resolve(values.beside)])];

/** In the page: when the first content was painted, in ms after the navigation began. */
const FIRST_PAINT = `new Promise((done) =>
  new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntriesByName("first-contentful-paint")) done(startTime);
  }).observe({ type: "paint", buffered: true }))`;

/** In ms. */
interface Look {
  readonly painted: number;
  readonly usable: number;
}

const browser = await launchChromium();
const served = [];
try {
  for (const checkout of checkouts) served.push({ checkout, looks: [] as Look[], ...(await serve(checkout)) });
  for (let n = 0; n <= LOOKS; n++)
    for (const { url, looks } of n % 2 === 0 ? served : served.toReversed()) {
      const look = await lookAt(browser, url);
      // The first of each finds a server that has answered nothing yet.
      if (n > 0) looks.push(look);
    }
  for (const { checkout, looks } of served) {
    const of = (name: "painted" | "usable") => looks.map((look) => look[name]);
    const [painted, usable] = [of("painted"), of("usable")].map((ms) => `${median(ms).toFixed(0)} (p95 ${quantile(ms, 0.95).toFixed(0)})`);
    console.log(`${checkout}: painted after ${painted} ms, usable after ${usable} ms`);
  }
  const [here, there] = served.map(({ looks }) => median(looks.map(({ painted }) => painted)));
  if (here !== undefined && there !== undefined) console.log(`painted here / beside: ${(here / there).toFixed(2)}`);
} finally {
  await browser.close();
  for (const { close } of served) await close();
}

async function serve(checkout: string) {
  const dir = await mkdtemp(join(tmpdir(), "maitred-first-paint-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const env = { ...process.env, PORT: String(port), MEMORY_STORAGE_DIR: join(dir, "storage"), EMBEDDING_PROVIDER: "hashing" };
  const answers = () =>
    fetch(`${url}readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  const { close } = await openChildServer({
    program: process.execPath,
    args: [join(checkout, "dist", "main.js")],
    dir,
    spawning: { env },
    stopSignal: "SIGTERM",
    answers,
  });
  return { url, close };
}

async function lookAt(from: Browser, url: string): Promise<Look> {
  const context = await from.newContext();
  try {
    const page = await context.newPage();
    const began = performance.now();
    await page.goto(url, { waitUntil: "commit" });
    await page.locator("textarea:enabled").first().waitFor();
    const usable = performance.now() - began;
    return { usable, painted: await page.evaluate<number>(FIRST_PAINT) };
  } finally {
    await context.close();
  }
}
