import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exportsOf, namedBy, withoutDocs } from "./declared-names.js";
import { type InstalledPackage, installPackage, PACKED_WITHIN_MS } from "./install.js";

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
}, PACKED_WITHIN_MS);
afterAll(() => installed.remove());

const entry = (name: string) => join(installed.home, "dist", `${name}.d.ts`);
/** Interfaces that a caller fills in. */
const FILLED_IN = ["MaitredOptions", "MaitredParts", "Settings", "ChatOptions", "TurnOptions", "ToolDefinition"];

describe("the types of the package", () => {
  test.each([
    ["index", 200],
    ["domain", 20],
  ])("every type in a public signature of %s can be imported, from there or from index", (name, least) => {
    const all = exportsOf(entry(name));
    const there = new Set([...all.values(), ...exportsOf(entry("index")).values()].map((each) => `${each.file}#${each.name}`));
    const missing = [...all].flatMap(([name, declared]) =>
      namedBy(declared)
        .filter((named) => !there.has(`${named.file}#${named.name}`))
        .map((named) => `${named.name}, which ${name} names`),
    );
    expect(all.size).toBeGreaterThan(least);
    expect(missing).toEqual([]);
  });

  test.each(["index", "http", "mcp"])("every function, class and value of %s has a docstring", async (name) => {
    const all = exportsOf(entry(name));
    const values = await exportedValues(name);
    expect(values.length).toBeGreaterThan(0);
    expect(values.filter((value) => all.get(value)?.docs === "" || !all.has(value))).toEqual([]);
  });

  test("every option has one", () => {
    const all = exportsOf(entry("index"));
    for (const name of FILLED_IN) {
      const declared = all.get(name);
      expect([name, declared && withoutDocs(declared)]).toEqual([name, []]);
    }
    const app = exportsOf(entry("http")).get("AppOptions");
    expect(app && withoutDocs(app)).toEqual([]);
  });

  test("what is planted is found: a type that isn't exported, a member without a docstring", async () => {
    const file = join(installed.project, "planted.d.ts");
    await writeFile(join(installed.project, "other.d.ts"), "export interface Hidden {}\n");
    const text =
      'import type { Hidden } from "./other.js";\n/** It. */\nexport interface Shown {\n  readonly a: Hidden;\n}\nexport declare const bare: 1;\n';
    await writeFile(file, text);
    const all = exportsOf(file);
    const shown = all.get("Shown");
    expect([...all].map(([name, { docs }]) => [name, docs !== ""])).toEqual([
      ["Shown", true],
      ["bare", false],
    ]);
    expect(shown && namedBy(shown).map(({ name }) => name)).toEqual(["Hidden"]);
    expect(shown && withoutDocs(shown)).toEqual(["a"]);
  });
});

/** The names that are there at run time, by the compiled entry. */
async function exportedValues(name: string): Promise<readonly string[]> {
  const text = await readFile(join(installed.home, "dist", `${name}.js`), "utf8");
  const lists = [...text.matchAll(/^export \{([^}]*)\}/gm)].flatMap((match) => (match[1] ?? "").split(","));
  return lists
    .map(
      (each) =>
        each
          .trim()
          .split(/\s+as\s+/)
          .at(-1) ?? "",
    )
    .filter((each) => each !== "");
}
