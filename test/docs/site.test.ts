import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT, read, sitePath, titleOf, writtenPages } from "../../site/pages.js";
import { launchChromium } from "../support/chromium.js";
import { needing } from "../support/needing.js";

const run = promisify(execFile);

/** The pages that people write. */
const WRITTEN = writtenPages().filter((file) => !file.startsWith("site/"));

const htmlOf = (file: string) => sitePath(file).replace(/\.md$/, ".html");

interface Tag {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}

function tagsOf(html: string): Tag[] {
  return [...html.matchAll(/<([a-z][\w-]*)(\s[^<>]*)>/g)].map(([, name = "", given = ""]) => ({
    name,
    attributes: new Map([...given.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, attribute = "", value = ""]) => [attribute, value])),
  }));
}

/** What a reader sees, without the spaces, which highlighted code is cut at. */
function textOf(html: string): string {
  return html
    .replaceAll(/<[^<>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")
    .replaceAll(/\s/g, "");
}

/** What a browser would load by itself for these. A link to another page is followed by a reader alone. */
function loads(tags: readonly Tag[]): string[] {
  const loading = ["src", "srcset", "poster", "data", "href", "xlink:href"];
  return tags.filter(({ name }) => name !== "a").flatMap(({ attributes }) => loading.flatMap((name) => attributes.get(name) ?? []));
}

const elsewhere = (address: string) => /^([a-z][a-z+.-]*:)?\/\//.test(address);

/** Style sheets name files as `url(…)` and by `@import`. */
function loadsOfStyles(css: string): string[] {
  return [...css.matchAll(/url\(["']?([^"')]*)|@import\s+["']([^"']*)/g)].map(([, url, imported]) => url ?? imported ?? "");
}

test("what is planted is found: a picture, a script, a frame and a font from elsewhere, and no link", () => {
  const page = `<a href="https://example.org">x</a><img alt="a" src="//example.org/a.png"><script src="https://example.org/b.js"></script>
    <link rel="stylesheet" href="https://example.org/c.css"><img src="/assets/d.png">`;
  expect(loads(tagsOf(page)).filter(elsewhere)).toEqual(["//example.org/a.png", "https://example.org/b.js", "https://example.org/c.css"]);
  const styles = `@import "https://example.org/e.css"; @font-face { src: url(https://example.org/f.woff2) } a { background: url("data:image/svg+xml,x") }`;
  expect(loadsOfStyles(styles).filter(elsewhere)).toEqual(["https://example.org/e.css", "https://example.org/f.woff2"]);
});

needing("site")("the documentation's site, built", () => {
  let dir: string;
  /** All of it that is text, by its path. */
  let texts: ReadonlyMap<string, string>;
  const page = (file: string) => texts.get(htmlOf(file)) ?? "";
  const endingIn = (end: string) => [...texts].filter(([file]) => file.endsWith(end));

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "maitred-site-"));
    const build = [join(ROOT, "site", "build.ts"), "--outDir", dir];
    const { stdout } = await run(process.execPath, ["--import", "tsx", ...build], { cwd: ROOT, maxBuffer: 16 * 1024 ** 2 });
    expect(stdout).toContain(`The site lies in ${dir}.`);
    const files = readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((file) => /\.(html|css|js|md|txt)$/.test(file));
    texts = new Map(files.map((file) => [file, readFileSync(join(dir, file), "utf8")]));
  }, 900_000);
  afterAll(() => rm(dir, { recursive: true, force: true }));

  test("has every page, with its title, and each in the navigation", () => {
    const links = new Set(tagsOf(page("docs/README.md")).map(({ attributes }) => attributes.get("href")));
    for (const file of WRITTEN) {
      const title = titleOf(read(file)).replaceAll("`", "").replaceAll(/\s/g, "");
      expect([file, textOf(page(file)).includes(title)]).toEqual([file, true]);
      expect([file, links.has(`/${htmlOf(file).replace(/^index\.html$/, "")}`)]).toEqual([file, true]);
    }
  });

  test("has every snippet of its pages, as it is printed there", () => {
    const lost = WRITTEN.flatMap((file) => {
      const seen = textOf(page(file));
      const blocks = [...read(file).matchAll(/^```.*\n([\s\S]*?)^```/gm)].map(([, code = ""]) => code);
      return blocks.filter((code) => !seen.includes(code.replaceAll(/\s/g, ""))).map((code) => [file, code]);
    });
    expect(lost).toEqual([]);
    expect(textOf(page("docs/own-agent.md"))).toContain("createMaitred");
  });

  test("links to no page, heading or file that is not there", () => {
    const ids = new Map(
      endingIn(".html").map(([file, html]) => [file, new Set(tagsOf(html).map(({ attributes }) => attributes.get("id")))]),
    );
    const broken = endingIn(".html").flatMap(([file, html]) =>
      tagsOf(html)
        .filter(({ name }) => name === "a")
        .map(({ attributes }) => attributes.get("href") ?? "")
        .filter((href) => !/^[a-z]+:/.test(href))
        .filter((href) => {
          const [path = "", anchor = ""] = decodeURI(href).split("#");
          const target = path === "" ? file : `${path.slice(1)}${path.endsWith("/") ? "index.html" : ""}`;
          return !ids.get(target)?.has(anchor) && !(anchor === "" && ids.has(target));
        })
        .map((href) => `${file}: ${href}`),
    );
    expect(ids.size).toBeGreaterThan(WRITTEN.length);
    expect(broken).toEqual([]);
  });

  test("has the pictures, each with words for those who don't see it", () => {
    const pictures = ["docs/how-memory-works.md", "docs/benchmarks.md", "docs/studio.md"].map((file) => {
      const images = tagsOf(page(file)).filter(({ name }) => name === "img");
      for (const { attributes } of images) expect(attributes.get("alt")).toMatch(/\w{3}/);
      return [file, images.length];
    });
    expect(pictures).toEqual([
      ["docs/how-memory-works.md", 3],
      ["docs/benchmarks.md", 5],
      ["docs/studio.md", read("docs/studio.md").split("<img ").length - 1],
    ]);
  });

  test("has the references of the HTTP API and of TypeScript, by names that are known", () => {
    const reference = (file: string) => texts.get(file) ?? "";
    const operations = tagsOf(reference("http-api-reference/index.html")).map(({ attributes }) => attributes.get("href"));
    for (const operation of ["chat.html#chat", "own-agent.html#getcontext", "operator.html#listjobs", "memories.html#addmemory"])
      expect(operations).toContain(`/http-api-reference/${operation}`);
    expect(reference("http-api-reference/schemas.html")).toContain('id="bookingreceipt"');
    expect(textOf(reference("typescript/maitred/functions/createMaitred.html"))).toContain("Promise<Maitred>");
    const { exports } = JSON.parse(read("package.json")) as { exports: Record<string, unknown> };
    const subpaths = Object.keys(exports).filter((path) => path !== "." && !path.endsWith(".json"));
    const links = new Set(tagsOf(reference("typescript/index.html")).map(({ attributes }) => attributes.get("href")));
    for (const path of subpaths) expect([path, links.has(`/typescript/maitred/${path.slice(2)}/`)]).toEqual([path, true]);
  });

  test("loads nothing from elsewhere, and its pages let a browser load nothing from there", () => {
    for (const [file, html] of endingIn(".html")) {
      expect([file, loads(tagsOf(html)).filter(elsewhere)]).toEqual([file, []]);
      expect([file, html.includes(`http-equiv="Content-Security-Policy" content="default-src 'self';`)]).toEqual([file, true]);
    }
    for (const [file, css] of endingIn(".css")) expect([file, loadsOfStyles(css).filter(elsewhere)]).toEqual([file, []]);
    for (const [file, js] of endingIn(".js"))
      expect([file, js.match(/\b(?:import|fetch|Worker|open)\(?\s*["'`](?:https?:)?\/\//g)]).toEqual([file, null]);
  });

  test("has llms.txt, whose links lead to Markdown that lies beside it, and all of that as one file", () => {
    const links = [...(texts.get("llms.txt") ?? "").matchAll(/\]\(\/([^)#]+)\)/g)].map(([, link = ""]) => link);
    expect(links).toEqual([...read("llms.txt").matchAll(/\]\(([^)]+)\)/g)].map(([, file = ""]) => sitePath(file)));
    const leading = endingIn(".md").flatMap(([file, text]) =>
      [...text.replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, "").matchAll(/\]\(\/([^)#]+\.md)/g)].map(([, link = ""]) => [
        file,
        link,
        texts.has(link),
      ]),
    );
    expect(leading.length).toBeGreaterThan(WRITTEN.length);
    expect(leading.filter(([, , there]) => !there)).toEqual([]);
    const whole = texts.get("llms-full.txt") ?? "";
    for (const link of links) expect([link, whole.includes(texts.get(link) ?? "nothing")]).toEqual([link, true]);
  });

  needing("chromium")("in a browser", () => {
    test("asks nobody else, shows its pages without an error, and finds what is searched for", async () => {
      const browser = await launchChromium();
      const types: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
      try {
        const context = await browser.newContext();
        const asked: string[] = [];
        const errors: string[] = [];
        await context.route("**", async (route) => {
          const { origin, pathname } = new URL(route.request().url());
          if (origin !== "http://site.test") asked.push(route.request().url());
          const file = join(dir, pathname.endsWith("/") ? `${pathname}index.html` : pathname);
          if (dirname(file).startsWith(dir)) return route.fulfill({ body: await readFile(file), contentType: types[extname(file)] ?? "" });
          return route.abort();
        });
        const tab = await context.newPage();
        tab.on("pageerror", ({ message }) => errors.push(message));
        tab.on("console", (message) => message.type() === "error" && errors.push(message.text()));
        for (const file of WRITTEN.filter((name) => !name.startsWith("docs/adr/"))) {
          await tab.goto(`http://site.test/${htmlOf(file)}`, { waitUntil: "networkidle" });
          const broken = await tab
            .locator("img")
            .evaluateAll((images) => images.filter((image) => !(image as unknown as { naturalWidth: number }).naturalWidth).length);
          expect([file, broken]).toEqual([file, 0]);
        }
        await tab.getByRole("button", { name: "Search" }).first().click();
        await tab.getByRole("searchbox").fill("erasure receipt");
        await tab.locator(".result").first().waitFor();
        expect([asked, errors]).toEqual([[], []]);
      } finally {
        await browser.close();
      }
    }, 300_000);
  });
});
