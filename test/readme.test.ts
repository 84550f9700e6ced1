import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { drawn, PLOTS } from "../scripts/plots.js";
import { withVariables } from "../scripts/readme.js";
import { settingsSource } from "../scripts/settings.js";
import { anchorOf } from "../site/pages.js";

const ROOT = join(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const readme = read("README.md");

const DOCS = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".md"))
  .map((path) => `docs/${path}`)
  .sort();
const PAGES = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "SECURITY.md",
  "memory_storage/README.md",
  "llms.txt",
  ...DOCS,
];

test("the table of variables is what the config schema says", () => {
  const page = read("docs/configuration.md");
  expect(withVariables(page)).toBe(page);
});

test("the library's options are the config schema's variables, with their meaning and default", () => {
  expect(read("src/library/settings.ts")).toBe(settingsSource());
});

test.each(Object.entries(PLOTS))("%s draws figures that stand in the benchmarks, and is what the script draws", (name, plot) => {
  expect(read(`docs/${name}`)).toBe(drawn(plot));
  const page = read("docs/benchmarks.md");
  const figures = new Set(page.match(/\d+(?:,\d{3})*(?:\.\d+)?/g));
  for (const [, figure] of plot.bars) expect(figures).toContain(figure);
  expect(page).toContain(`](${name})`);
});

test.each(["docs/http-api.md", "docs/own-agent.md"])("the requests of %s run as they are printed: nothing is left to fill in", (path) => {
  const shells = [...read(path).matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
  const requests = shells.filter((block) => block.includes("curl"));
  expect(requests.length).toBeGreaterThan(0);
  for (const block of requests) expect(block).not.toMatch(/…|<[a-z]+>/);
});

test("the README's first commands are the two that a newcomer needs", () => {
  const first = readme.match(/```sh\n([\s\S]*?)```/)?.[1];
  expect(
    first
      ?.split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => line.split("#")[0]?.trim()),
  ).toEqual(["npm start", "npm test"]);
});

test("pages that are read first stay short", () => {
  const bytes = (path: string) => Buffer.byteLength(read(path));
  expect(bytes("README.md")).toBeLessThanOrEqual(8 * 1024);
  expect(bytes("CONTRIBUTING.md")).toBeLessThanOrEqual(8 * 1024);
  expect(bytes("CHANGELOG.md")).toBeLessThanOrEqual(6 * 1024);
});

test.each(["docs/README.md", "llms.txt"])("%s has one line for each page of docs", (index) => {
  const listed = linksIn(read(index)).map((link) => join(dirname(index), link.split("#")[0] ?? ""));
  const pages = DOCS.filter((path) => !path.startsWith("docs/adr/") && path !== "docs/README.md");
  for (const page of pages) expect([page, listed.filter((path) => path === page).length]).toEqual([page, 1]);
});

// The changelog may tell of what is gone.
test.each(PAGES.filter((page) => page !== "CHANGELOG.md"))("the files that %s names in code are there", (page) => {
  const named = [...read(page).matchAll(/`((?:src|test|bench|scripts|packages|deploy|examples)\/[\w./-]*\w)\/?`/g)].map(
    ([, path = ""]) => path,
  );
  expect(named.filter((path) => !["", ".ts", ".test.ts"].some((end) => existsSync(join(ROOT, path + end))))).toEqual([]);
});

describe("links", () => {
  test.each(PAGES)("of %s lead to files and headings that are there", (page) => {
    expect(linksIn(read(page)).filter((link) => !resolves(page, link))).toEqual([]);
  });

  test("what is planted is found: a page, a heading and a picture that are not there, and no program's text", () => {
    const text =
      "[a](nowhere.md) [b](#nothing) [c](docs/cli.md#nothing) [d](https://example.org) ```ts\nx](y)\n``` `[e](f)` [g](README.md#compared)";
    const links = linksIn(`${text} <img src="none.png">`);
    expect(links).toEqual(["nowhere.md", "#nothing", "docs/cli.md#nothing", "README.md#compared", "none.png"]);
    expect(links.filter((link) => !resolves("README.md", link))).toEqual(["nowhere.md", "#nothing", "docs/cli.md#nothing", "none.png"]);
  });
});

/** Targets of relative links and pictures, outside of code. */
function linksIn(text: string): string[] {
  const prose = text.replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)|<img src="([^"]+)"/g)]
    .map(([, link, picture]) => link ?? picture ?? "")
    .filter((target) => !/^[a-z]+:/.test(target));
}

function resolves(page: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : join(dirname(page), path);
  if (!existsSync(join(ROOT, target))) return false;
  return anchor === undefined || anchorsOf(read(target)).includes(anchor);
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(text: string): string[] {
  const headings = [...text.replaceAll(/```[\s\S]*?```/g, "").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading);
  return headings.map(anchorOf);
}
