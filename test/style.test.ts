import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseSync } from "@swc/core";
import { describe, expect, test } from "vitest";

/** What STYLE asks of the source and the linter has no rule for. */

const ROOT = resolve(import.meta.dirname, "..");
const PACKAGES = readdirSync(join(ROOT, "packages")).map((name) => `packages/${name}/src`);
const MAX_LINE = 140;
const MAX_PATTERN = 120;
const MAX_LINES = 300;

const files = ["src", ...PACKAGES]
  .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((path) => `${folder}/${path}`))
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => /\.(tsx?|js|css|html)$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));

function longLines(text: string): number[] {
  return text.split("\n").flatMap((line, index) => (line.length > MAX_LINE ? [index + 1] : []));
}

/** The regular expression literals of a TypeScript or JavaScript text that are longer than allowed. */
function longPatterns(text: string, tsx = false): string[] {
  const found: string[] = [];
  const visit = (node: unknown): void => {
    if (node === null || typeof node !== "object") return;
    const { type, pattern } = node as { readonly type?: unknown; readonly pattern?: unknown };
    if (type === "RegExpLiteral" && typeof pattern === "string" && pattern.length > MAX_PATTERN) found.push(pattern);
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseSync(text, { syntax: "typescript", tsx, target: "es2022" }));
  return found;
}

/** A long file says why in its first line of comment. */
function isLongWithoutReason(text: string): boolean {
  return text.split("\n").length > MAX_LINES + 1 && !/^(\/\/|\/\*\*?) Over 300 lines: \S/.test(text);
}

describe("the source", () => {
  test("has no line over 140 characters", () => {
    expect(files.flatMap(({ path, text }) => longLines(text).map((line) => `${path}:${line}`))).toEqual([]);
  });

  test("has no regular expression over 120 characters", () => {
    const scripts = files.filter(({ path }) => /\.(tsx?|js)$/.test(path));
    expect(
      scripts.flatMap(({ path, text }) => longPatterns(text, path.endsWith("x")).map((pattern) => `${path}: ${pattern.slice(0, 60)}…`)),
    ).toEqual([]);
  });

  test("has no file over 300 lines that doesn't say why at its top", () => {
    const code = files.filter(({ path }) => /\.(tsx?|js)$/.test(path));
    expect(code.filter(({ text }) => isLongWithoutReason(text)).map(({ path }) => path)).toEqual([]);
  });
});

/** Folders of tests with no folder of the source, a package or the root of their name. */
function foldersOfTheirOwn(): string[] {
  const sources = ["src", "packages", "."].flatMap((folder) => readdirSync(join(ROOT, folder)));
  return readdirSync(join(ROOT, "test"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !sources.includes(entry.name))
    .map(({ name }) => name);
}

test("a folder of tests is named as what it tests, or docs/testing.md says what it is", () => {
  const [, table = ""] = readFileSync(join(ROOT, "docs/testing.md"), "utf8").split("\n## Where the tests lie\n");
  const [section = ""] = table.split("\n## ");
  const told = [...section.matchAll(/^\| (.+?) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([\w-]+)`/g)].map(([, name]) => name),
  );
  expect(told.toSorted()).toEqual(foldersOfTheirOwn().toSorted());
});

describe("what is planted is found", () => {
  test("a long line, a long pattern, a long file without a reason", () => {
    expect(longLines(`short\n${"x".repeat(141)}`)).toEqual([2]);
    expect(longPatterns(`export const a = /${"ab".repeat(61)}/u;`)).toHaveLength(1);
    expect(longPatterns(`export const a = /ab/u;`)).toEqual([]);
    expect(isLongWithoutReason("x\n".repeat(302))).toBe(true);
    expect(isLongWithoutReason(`// Over 300 lines: one table.\n${"x\n".repeat(302)}`)).toBe(false);
  });
});
