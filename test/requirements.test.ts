import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BUGS } from "./planted/bugs.js";
import { REQUIREMENTS } from "./requirements.js";
import { shownIn } from "./support/promises-shown.js";

/** Ids in brackets in the first argument of a call that is a string with more arguments behind it: the name of a test or a suite. */
function citedIn(source: string): string[] {
  const names = source.matchAll(/\(\s*(["'`])((?:(?!\1)[^\n])*)\1\s*,/g);
  return [...names].flatMap((match) => [...(match[2] ?? "").matchAll(/\[([a-z]+(?:-[a-z]+)+)\]/g)].map((id) => id[1] ?? ""));
}

/** Tests, and the contracts that they run. */
const FILES = [
  { dir: import.meta.dirname, named: /\.(test|contract)\.ts$/ },
  { dir: join(import.meta.dirname, "..", "src", "testing"), named: /-contract\.ts$/ },
];

const cited = new Set(
  FILES.flatMap(({ dir, named }) =>
    readdirSync(dir, { recursive: true, encoding: "utf8" })
      .filter((path) => named.test(path) && !path.endsWith("requirements.test.ts"))
      .flatMap((path) => citedIn(readFileSync(join(dir, path), "utf8"))),
  ),
);

test("every promise is cited by a test", () => {
  expect(Object.keys(REQUIREMENTS).filter((id) => !cited.has(id))).toEqual([]);
});

test("every cited id is a promise", () => {
  expect([...cited].filter((id) => !(id in REQUIREMENTS))).toEqual([]);
});

test("a citation is found in plain, parametrised and nested names, and nowhere else", () => {
  const source =
    'test("a [turn-once] b", f); test.each([["x"]])("c [turn-order]", f); describe("[journal-torn] d", f); const x = "[not-a-name]";';
  expect(citedIn(source)).toEqual(["turn-once", "turn-order", "journal-torn"]);
});

test("docs/testing.md says of every promise, and of nothing else, by which tests it is shown", () => {
  const page = readFileSync(join(import.meta.dirname, "..", "docs", "testing.md"), "utf8");
  const told = shownIn(page);
  expect([...told.keys()]).toEqual(Object.keys(REQUIREMENTS));
  expect([...told].filter(([, by]) => by.size === 0).map(([promise]) => promise)).toEqual([]);
});

// The tests of planted bugs, which take minutes, plant them.
test.each(BUGS)("where a bug is planted there is just one such place: $name", ({ file, search, test: found }) => {
  expect(readFileSync(join(import.meta.dirname, "..", "src", file), "utf8").split(search)).toHaveLength(2);
  expect(found).toSatisfy((path: string) => existsSync(join(import.meta.dirname, "..", path)));
});
