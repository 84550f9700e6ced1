import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withVariables } from "../scripts/readme.js";
import { settingsSource } from "../scripts/settings.js";

const readme = readFileSync(join(import.meta.dirname, "..", "README.md"), "utf8");

test("the README's table of variables is what the config schema says", () => {
  expect(withVariables(readme)).toBe(readme);
});

test("the library's options are the config schema's variables, with their meaning and default", () => {
  const settings = readFileSync(join(import.meta.dirname, "..", "src", "library", "settings.ts"), "utf8");
  expect(settings).toBe(settingsSource());
});

test("the README's requests run as they are printed: nothing in them is left to fill in", () => {
  const shells = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
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
