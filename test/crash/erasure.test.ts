import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleChild } from "./child-process.js";
import { type Armed, POINTS } from "./fault-points.js";
import { Lane } from "./lane.js";

let dir: string;
let program: string;
/** Two guests, one session each and the beginning of another, all written back. */
let before: Lane;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-erasure-"));
  program = await bundleChild(join(dir, "program"));
  before = new Lane(program, join(dir, "before"), ["ann", "bob"]);
  await before.finish("forgetting", { steps: 9 });
  expect(before.violations).toEqual([]);
  expect(await filesThatName(before.dir, /Ann[a-z]{6}/)).not.toEqual([]);
}, 120_000);
afterAll(() => rm(dir, { recursive: true }));

/** Any file, whatever it is, in whose bytes one of the words stands. */
async function filesThatName(root: string, words: RegExp): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const contents = await Promise.all(files.map(async (file) => ({ file, text: await readFile(file, "latin1") })));
  return contents.flatMap(({ file, text }) => (words.test(text) ? [file] : []));
}

/** The erasure's own, behind those of the start: the first is not among them, before which nothing is promised. */
const COMMITS = [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
const ARMED: readonly Armed[] = [
  // The first file that goes is one of the start.
  ...POINTS.erasure.map((point) => ({ point, hit: point.startsWith("disk.unlink") ? 2 : 1 })),
  ...COMMITS.map((hit) => ({ point: "engine.commit:before", hit }) as const),
  { point: "engine.commit:after", hit: COMMITS.at(-1) ?? 0 },
];

test.concurrent.for(ARMED)(
  "[erasure-verified] [erasure-complete] killed at $point $hit, an erasure is finished at the next start",
  {
    timeout: 300_000,
  },
  async ({ point, hit }) => {
    const lane = await before.copy(join(dir, `${point} ${hit}`));
    expect(await lane.erase("ann", { point, hit })).toBe(true);
    const seen = await lane.finish("forgetting");
    // Where it died before the intent was durable, nothing had been promised and nothing taken.
    expect(seen.openErasures).toBe(0);
    expect(seen.receipts).toEqual([{ user: "ann", verified: true }]);
    expect(await filesThatName(lane.dir, /Ann[a-z]{6}/)).toEqual([]);
    expect(lane.violations, "what is bob's").toEqual([]);
  },
);
