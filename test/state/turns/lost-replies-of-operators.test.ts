import { describe, expect, test, vi } from "vitest";
import { type Owner, ownerOf, parseOwner } from "../../../src/domain/owner.js";
import { insteadOf } from "../../../src/platform/errors.js";
import type { Merge } from "../../../src/ports/identities.js";
import { JOB_KINDS, type Job } from "../../../src/ports/operator.js";
import { SLOW } from "../../support/projects.js";
import { EVERY_ENGINE } from "../engines/every-engine.js";
import { allOf, FAULTS, inLanes, insisting, LANES, type MakeEngine, madeAt, open, say, type World } from "./lost-reply-world.js";

vi.setConfig({ testTimeout: 280_000, hookTimeout: 60_000 });

/** How long what waits for the lease of a write that was refused may take, in milliseconds. */
const POLLED = { timeout: 60_000 };
const ended = (message: string) => ({ ...POLLED, message });

/** Two users who are one, each of whom has said something. */
async function two(world: World, name: string): Promise<{ readonly from: Owner; readonly to: Owner; merge(): Promise<Merge> }> {
  const [from, to] = [ownerOf("default", `visitor-${name}`), ownerOf("default", `ada-${name}`)];
  await say(world, from, "I prefer jazz concerts.");
  await say(world, to, "I am vegetarian.");
  const ends = { from: parseOwner(from).user, to: parseOwner(to).user };
  return { from, to, merge: () => insisting(() => world.replica.application.identities.merge(ends)) };
}

/** All that is told of either, and which merges of theirs are on record. */
async function allOfBoth(world: World, owners: readonly Owner[]) {
  const { identities, parts } = world.replica.application;
  const told = async (owner: Owner) => {
    const { memories, sessions, ...rest } = await allOf(world, owner);
    // What was said within one millisecond is in no order.
    const sorted = { memories: memories.map(String).sort(), sessions: sessions.map((each) => JSON.stringify(each)).sort() };
    return { ...rest, ...sorted, ...(await recordOf(owner)) };
  };
  const recordOf = async (owner: Owner) => ({
    as: (await identities.resolve(owner)) === owner ? "themselves" : "another",
    audit: (await parts.ledger.auditTrail(owner)).map(({ action }) => action),
  });
  return Promise.all(owners.map(told));
}

/** A merge, or its undo, once for each of its writes. */
async function mergedAtEveryWrite({ times, fault }: (typeof FAULTS)[number], what: "merge" | "undo", make: MakeEngine): Promise<number> {
  return inLanes(async (place) => {
    const world = await open({ scripted: false, make });
    const { identities } = world.replica.application;
    const live = async (name: string, lose: () => void) => {
      const { from, to, merge } = await two(world, name);
      const { merge_id } = what === "undo" ? await merge() : { merge_id: "" };
      lose();
      const done = what === "undo" ? await insisting(() => identities.undo(merge_id)) : await merge();
      const met = { hasLost: world.hasLost, lost: world.lost };
      world.lose(0, 0);
      expect(await identities.get(done.merge_id), met.lost).toEqual(done);
      return { met, all: () => allOfBoth(world, what === "undo" ? [from, to] : [to]) };
    };
    try {
      const { all: unharmed } = await live("0", () => {});
      await expect.poll(async () => (await unharmed()).flatMap(({ left }) => left), POLLED).toEqual([]);
      const wanted = await unharmed();
      for (let n = place; ; n += LANES) {
        const { met, all } = await live(String(n), () => world.lose(n, times, fault));
        await expect.poll(all, ended(`${n}: ${met.lost}`)).toEqual(wanted);
        if (!met.hasLost) return n;
      }
    } finally {
      await world.replica.stop();
    }
  });
}

/** Each of an operator's jobs, once for each write that any of them makes. */
async function jobsAtEveryWrite({ times, fault }: (typeof FAULTS)[number], make: MakeEngine): Promise<number> {
  return inLanes(async (place) => {
    const world = await open({ scripted: false, make });
    const { jobs } = world.replica.application.parts.operator;
    const ada = ownerOf("default", "ada");
    /** What came of one job of each kind, begun as an operator does who asks until it runs. */
    const round = async (lost: () => string) => {
      const before = new Set((await jobs.list()).map(({ id }) => id));
      const begun = async () => (await jobs.list()).filter(({ id }) => !before.has(id));
      const outcomes: Pick<Job, "kind" | "state" | "result">[] = [];
      for (const kind of JOB_KINDS) {
        await insisting(() => jobs.start(kind, { dryRun: false }).catch(insteadOf("JOB_RUNNING", null)));
        await expect.poll(async () => (await begun()).every(({ ended_at }) => ended_at !== null), ended(lost())).toBe(true);
      }
      for (const { kind, state, result } of await begun()) outcomes.push({ kind, state, result });
      return outcomes;
    };
    try {
      await say(world, ada, "I prefer jazz concerts, and I am vegetarian.");
      await round(() => "");
      const wanted = await round(() => "");
      await expect.poll(async () => (await allOf(world, ada)).left, POLLED).toEqual([]);
      const all = await allOf(world, ada);
      expect(wanted.map(({ state }) => state)).toEqual(JOB_KINDS.map(() => "succeeded"));
      for (let n = place; ; n += LANES) {
        world.lose(n, times, fault);
        const met = await round(() => `${n}: ${world.lost}`);
        const { hasLost, lost } = world;
        world.lose(0, 0);
        // One of each, which may tell that something was out of reach; the next one makes up for that.
        expect(
          met.map(({ kind }) => kind),
          `${n}: ${lost}`,
        ).toEqual(wanted.map(({ kind }) => kind));
        expect(await round(() => `behind ${n}: ${lost}`), `${n}: ${lost}`).toEqual(wanted);
        await expect.poll(() => allOf(world, ada), ended(`${n}: ${lost}`)).toEqual(all);
        if (!hasLost) return n;
      }
    } finally {
      await world.replica.stop();
    }
  });
}

for (const { name, program, home } of EVERY_ENGINE) {
  if (program !== null) continue;
  describe(`[unknown-outcome-looked-up] on ${name}`, () => {
    const make = madeAt(home);

    for (const each of FAULTS.filter(({ times }) => times <= 4)) {
      const { times, fault } = each;
      const isFirst = name === "memory" && fault === "lost reply" && times === 4;
      const how = `meets a ${fault}, ${times} times in a row`;
      test(`[merge-whole] any write of a merge ${how}: all is theirs once`, { tags: [SLOW] }, async () => {
        expect(await mergedAtEveryWrite(each, "merge", make)).toBeGreaterThan(10);
      });
      test(`[merge-undone] any write of an undo ${how}: each has their own again`, { tags: [SLOW] }, async () => {
        expect(await mergedAtEveryWrite(each, "undo", make)).toBeGreaterThan(10);
      });
      test(`[jobs-survive] any write of an operator's jobs ${how}: each is done, and is one`, { tags: isFirst ? [] : [SLOW] }, async () => {
        expect(await jobsAtEveryWrite(each, make)).toBeGreaterThan(10);
      });
    }
  });
}
