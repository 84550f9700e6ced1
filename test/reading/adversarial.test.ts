import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";
import { SHAPES } from "./adversarial.js";

const lineSchema = z
  .object({ begins: z.string() })
  .or(z.object({ name: z.string(), small: z.number(), large: z.number(), steep: z.boolean() }));
/** A shape that takes longer than this is killed. */
const KILLED_MS = 2_000;

test("no shape of text holds the checks up, and twice the text costs less than three times as much", { timeout: 180_000 }, async () => {
  const child = spawn(process.execPath, ["--import", "tsx", fileURLToPath(new URL("adversarial-child.ts", import.meta.url))]);
  const costs: { name: string; small: number; large: number; steep: boolean }[] = [];
  let current = "start";
  let killer: NodeJS.Timeout | undefined;
  let rest = "";
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  child.stdout.on("data", (chunk) => {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const parsed = lineSchema.parse(JSON.parse(line));
      clearTimeout(killer);
      if ("begins" in parsed) {
        current = parsed.begins;
        // Six measured runs of 18 proposals each, or five times that: far more than one message is.
        killer = setTimeout(() => child.kill("SIGKILL"), KILLED_MS * 7);
      } else costs.push(parsed);
    }
  });
  const code = await new Promise((resolve) => child.on("close", (exit, signal) => resolve(exit ?? signal)));
  clearTimeout(killer);
  expect([code, code === 0 ? "" : `${current}: ${errors}`]).toEqual([0, ""]);
  expect(costs.map(({ name }) => name)).toEqual(Object.keys(SHAPES));
  expect(costs.length).toBeGreaterThanOrEqual(40);
  expect(costs.filter(({ steep }) => steep)).toEqual([]);
});
