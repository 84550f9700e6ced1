import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleChild } from "./child-process.js";
import type { FaultPoint } from "./fault-points.js";
import { readJournals } from "./journals-on-disk.js";
import { Lane } from "./lane.js";
import { STEPS_PER_BLOCK } from "./script.js";

/** From where the journal is about to be written anew to where the index has what is left of it. */
const POINTS: readonly FaultPoint[] = [
  "index.remove:before",
  "index.remove:after",
  "journal.rewrite:before",
  "journal.rewrite:after",
  "index.apply.session:before",
  "index.apply.session:after",
];

let dir: string;
let program: string;
/** A session that is full, and another up to the step that empties the first. */
let before: Lane;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-half-emptied-"));
  program = await bundleChild(join(dir, "program"));
  before = new Lane(program, join(dir, "before"), ["ann"]);
  await before.finish("forgetting", { steps: 2 * STEPS_PER_BLOCK - 1 });
  expect(before.violations).toEqual([]);
}, 120_000);
afterAll(() => rm(dir, { recursive: true }));

test.concurrent.for(POINTS)(
  "[index-derived] killed at %s, a session that was being emptied is whole or empty, in the index as in its journal",
  {
    timeout: 300_000,
  },
  async (point) => {
    const lane = await before.copy(join(dir, point));
    expect(await lane.live({ disk: "forgetting", armed: { point, hit: 1 }, steps: 1 })).toBe(true);
    // Nobody asks for it again.
    const seen = await lane.finish("forgetting", { steps: 0 });
    const journals = await readJournals(lane.dir);
    expect(journals).toHaveLength(2);
    for (const { sessionId, standing } of journals) {
      const messages = standing.filter(({ type }) => type === "message");
      expect(seen.sessions.find(({ id }) => id === sessionId)?.messages).toBe(messages.length);
      const summaries = new Set(standing.flatMap(({ id, type }) => (type === "summary" ? [id] : [])));
      const inHistory = seen.history.flatMap((each) =>
        each.sessionId === sessionId && !summaries.has(each.messageId) ? [each.messageId] : [],
      );
      expect(new Set(inHistory)).toEqual(new Set(messages.map(({ id }) => id)));
    }
  },
);
