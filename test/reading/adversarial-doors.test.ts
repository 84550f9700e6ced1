import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { bundle } from "../support/bundle.js";
import { fedTo, SHAPES } from "./adversarial.js";

const costSchema = z.object({ door: z.string(), shape: z.string(), small: z.number(), large: z.number() });
const lineSchema = z.object({ begins: z.string() }).or(costSchema);
const DOORS = ["chat", "chat without a key", "import", "promote", "restore"];

const CHILD = fileURLToPath(new URL("./adversarial-doors-child.ts", import.meta.url));
let program: string;
beforeAll(async () => {
  program = await mkdtemp(join(tmpdir(), "maitred-adversarial-"));
  await bundle([CHILD], program);
}, 60_000);
afterAll(() => rm(program, { recursive: true }));

interface Fed {
  readonly ended: number | NodeJS.Signals | null;
  /** What it was at. */
  readonly at: string;
  readonly costs: readonly z.output<typeof costSchema>[];
  readonly errors: string;
}

/** The product in a process of its own, which ends itself by SIGKILL when one shape takes over two seconds of the processor. */
async function feed(...more: readonly string[]): Promise<Fed> {
  const child = spawn(process.execPath, [join(program, "adversarial-doors-child.js"), ...more]);
  onTestFinished(() => void child.kill("SIGKILL"));
  let out = "";
  let errors = "";
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  const ended = await new Promise<Fed["ended"]>((resolve) => child.on("close", (code, signal) => resolve(code ?? signal)));
  const lines = out.split("\n").slice(0, -1);
  const parsed = lines.map((line) => lineSchema.parse(JSON.parse(line)));
  const at = parsed.findLast((line) => "begins" in line);
  return { ended, at: at?.begins ?? "start", costs: parsed.flatMap((line) => ("door" in line ? [line] : [])), errors };
}

test("no shape of text holds the product up, whichever door it comes in by, and twice the text costs less than three times as much", {
  timeout: 600_000,
}, async () => {
  const { ended, at, costs, errors } = await feed();
  expect([ended, ended === 0 ? "" : `${at} ${errors}`]).toEqual([0, ""]);
  const shapes = Object.keys(SHAPES);
  expect(shapes.length).toBeGreaterThanOrEqual(40);
  expect(costs.map(({ door, shape }) => [door, shape])).toEqual(
    DOORS.flatMap((door) => shapes.filter((shape) => fedTo(door, shape)).map((shape) => [door, shape])),
  );
  expect(costs.filter(({ small, large }) => large >= 3 * small)).toEqual([]);
});

test("a step that doesn't come to an end is noticed", { timeout: 60_000 }, async () => {
  expect(await feed("endless")).toMatchObject({ ended: "SIGKILL", costs: [] });
});
