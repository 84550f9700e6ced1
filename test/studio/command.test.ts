import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { commandOf } from "../../src/studio/command.js";

test("a command that is copied from Studio holds each word as it is, whatever a user is called", () => {
  const words = ["maitred", "--user=o'Neil; rm -rf ~", "$(id)", "`id`", 'a "b" \\', "", "-x", "&& x", "ada", "日本", "OPENAI_MODEL=…"];
  const told = execFileSync("sh", ["-c", `printf '%s\\n' ${commandOf(words)}`], { encoding: "utf8" });
  expect(told).toBe(`${words.join("\n")}\n`);
});
