import { describe, expect, test } from "vitest";
import type { Overrides } from "../../src/compose/compose.js";
import { ownerOf } from "../../src/domain/owner.js";
import { filesHolding, openWorld, startWorld, tempDir, type World } from "../e2e/world.js";
import { sessionsOf, textsOf } from "../identities/shop.js";
import { SLOW } from "../support/projects.js";

const VISITOR = ownerOf("default", "visitor");

/** Calls by which a merge or its undo changes something. */
const MERGED = ["journal.create", "index.apply", "memoryLog.append", "history.addSession"] as const;
const UNDONE = [
  "memoryLog.append",
  "memoryLog.redact",
  "journal.rewrite",
  "journal.remove",
  "index.remove",
  "history.removeMessages",
] as const;

/** A process that is killed before or after a call of its, the first or a later one: from then on it does nothing any more. */
function mortal(point: string, call = 1): { readonly overrides: Overrides; arm(): void; disarm(): void; readonly died: () => boolean } {
  let [armed, dead, died] = [false, false, false];
  let calls = 0;
  const watched = <T extends object>(part: string, target: T): T =>
    new Proxy(target, {
      get(of, name) {
        const member: unknown = Reflect.get(of, name);
        if (typeof member !== "function") return member;
        if (name === "close") return member.bind(of);
        return (...args: unknown[]) => {
          const die = () => {
            [dead, died] = [true, true];
            throw new Error(`killed at ${point}`);
          };
          if (dead) throw new Error("killed");
          const here = armed && point.startsWith(`${part}.${String(name)}:`) && ++calls === call;
          if (here && point.endsWith(":before")) die();
          const answer: unknown = Reflect.apply(member, of, args);
          return here ? Promise.resolve(answer).then(die) : answer;
        };
      },
    });
  return {
    overrides: {
      around: {
        sessions: (store) => ({
          ...store,
          journal: watched("journal", store.journal),
          index: watched("index", store.index),
          turns: watched("turns", store.turns),
          images: watched("images", store.images),
          locks: store.locks,
          close: () => store.close(),
        }),
        memoryLog: (log) => watched("memoryLog", log),
        history: (history) => watched("history", history),
      },
    },
    arm: () => {
      armed = true;
    },
    // So that what is left of it can be closed.
    disarm: () => {
      [armed, dead] = [false, false];
    },
    died: () => died,
  };
}

/** A world that can be killed at a point, and how it is: the world that starts on what is left. */
async function mortalWorld(point: string, call = 1) {
  const dir = await tempDir();
  const mortality = mortal(point, call);
  const world = await openWorld(dir, {}, mortality.overrides);
  const killedDuring = async (work: () => Promise<unknown>): Promise<World> => {
    mortality.arm();
    await work().catch(() => undefined);
    expect(mortality.died()).toBe(true);
    mortality.disarm();
    await world.application.close({ drainMs: 0 });
    return startWorld(dir);
  };
  return { world, killedDuring };
}

const both = (calls: readonly string[]) => calls.flatMap((call) => [`${call}:before`, `${call}:after`]);
/** In the middle of each. */
const FAST = ["memoryLog.append:after", "journal.remove:before"];

/** A visitor and ada have each said something; what each has is the same whenever it is told. */
async function stories(world: World): Promise<{ readonly session: string }> {
  const [visitor, ada] = [world.as("visitor"), world.as("ada")];
  const { session_id } = await visitor.say("I prefer jazz concerts.");
  await visitor.say("I always sit by the aisle.");
  await ada.say("I prefer jazz concerts.");
  await ada.say("I am vegetarian.");
  return { session: session_id };
}

const told = async (world: World, user: string) => ({
  memories: await textsOf(world.as(user)),
  sessions: await sessionsOf(world.as(user)),
  said: (await world.application.history.search(ownerOf("default", user), { query: "jazz", limit: 50 }))
    .map(({ content }) => content)
    .sort(),
});

describe("a merge that is killed", () => {
  for (const point of both(MERGED))
    test(`[merge-finished] at ${point} is finished at the next start, with nothing lost and nothing twice`, {
      tags: FAST.includes(point) ? [] : [SLOW],
      timeout: 60_000,
    }, async () => {
      const { world, killedDuring } = await mortalWorld(point);
      const { session } = await stories(world);
      const after = await killedDuring(() => world.application.identities.merge({ from: "visitor", to: "ada" }));
      expect(await after.application.identities.resolve(VISITOR)).toBe(ownerOf("default", "ada"));
      const merge = await after.application.identities.merge({ from: "visitor", to: "ada" });
      expect(merge.state).toBe("merged");
      const { memories, sessions, said } = await told(after, "ada");
      expect(memories).toHaveLength(3);
      expect(sessions).toHaveLength(4);
      expect(said.filter((content) => content === "I prefer jazz concerts.")).toHaveLength(2);
      expect((await after.as("visitor").get(`/v1/sessions/${session}`)).body).toMatchObject({ message_count: 2 });
    });
});

describe("an undo that is killed", () => {
  for (const point of both(UNDONE))
    test(`[merge-finished] [merge-undone] at ${point} is finished at the next start, with nothing lost and nothing twice`, {
      tags: FAST.includes(point) ? [] : [SLOW],
      timeout: 60_000,
    }, async () => {
      const { world, killedDuring } = await mortalWorld(point);
      const { session } = await stories(world);
      const [visitors, adas] = [await told(world, "visitor"), await told(world, "ada")];
      const { merge_id } = await world.application.identities.merge({ from: "visitor", to: "ada" });
      const [aisle] = (await world.application.memories.list(ownerOf("default", "ada"), { limit: 200 })).data.filter(({ text }) =>
        /aisle/.test(text),
      );
      await world.application.memories.forget(ownerOf("default", "ada"), aisle?.id ?? "", { now: new Date() });
      const later = await world.as("visitor").say("Anything good this weekend?", { session_id: session });
      const after = await killedDuring(() => world.application.identities.undo(merge_id));
      expect(await after.application.identities.resolve(VISITOR)).toBe(VISITOR);
      expect(await after.application.identities.get(merge_id)).toMatchObject({ state: "undone" });
      expect(await told(after, "visitor")).toEqual({
        ...visitors,
        memories: visitors.memories.filter((text) => !/aisle/.test(text)),
        said: visitors.said.filter((content) => !/aisle/.test(content)),
      });
      const now = await told(after, "ada");
      expect(now.memories).toEqual(adas.memories);
      expect(now.sessions).toHaveLength(3);
      const kept = await after.as("ada").get<{ data: { content: string }[] }>(`/v1/sessions/${later.session_id}/messages`);
      expect(kept.body.data[0]?.content).toBe("Anything good this weekend?");
    });
});

describe("an undo that is killed where the visitor's words are in forks", () => {
  const points = ["journal.rewrite", "journal.append", "journal.remove", "index.remove", "index.apply", "history.removeMessages"];
  const moments = both(points).flatMap((point) => [1, 2, 3].map((call) => ({ point, call })));
  for (const { point, call } of moments)
    test(`[merge-finished] [merge-undone] at call ${call} of ${point} takes them out of all at the next start, and nothing else`, {
      tags: point === "journal.rewrite:after" && call === 2 ? [] : [SLOW],
      timeout: 60_000,
    }, async () => {
      const { world, killedDuring } = await mortalWorld(point, call);
      const ada = world.as("ada");
      await world.as("visitor").say("I prefer zithern concerts.");
      const own = await ada.say("I am vegetarian.");
      const { merge_id } = await world.application.identities.merge({ from: "visitor", to: "ada" });
      const copy = (await ada.get<{ data: { id: string; title: string }[] }>("/v1/sessions")).body.data.find(({ title }) =>
        /zithern/.test(title),
      );
      const first = (await ada.get<{ data: { id: string }[] }>(`/v1/sessions/${copy?.id}/messages`)).body.data[0]?.id;
      const fork = async () => (await ada.post<{ id: string }>(`/v1/sessions/${copy?.id}/fork`, { message_id: first })).body.id;
      const [left, another, goesOn, goesOnToo] = [await fork(), await fork(), await fork(), await fork()];
      for (const session_id of [goesOn, goesOnToo, own.session_id]) await ada.say("Anything good this weekend?", { session_id });
      const after = await killedDuring(() => world.application.identities.undo(merge_id));
      expect(await after.application.identities.resolve(VISITOR)).toBe(VISITOR);
      expect(await after.application.identities.get(merge_id)).toMatchObject({ state: "undone" });
      const now = after.as("ada");
      for (const id of [copy?.id, left, another]) expect((await now.get(`/v1/sessions/${id}`)).status).toBe(404);
      for (const id of [goesOn, goesOnToo])
        expect((await now.get(`/v1/sessions/${id}`)).body).toMatchObject({ title: "Anything good this weekend?", message_count: 2 });
      expect((await now.get(`/v1/sessions/${own.session_id}`)).body).toMatchObject({ message_count: 4 });
      expect(await textsOf(now)).toEqual([expect.stringMatching(/vegetarian/i)]);
      const found = await after.application.history.search(ownerOf("default", "ada"), { query: "prefer zithern", limit: 50, role: "user" });
      expect(found.filter(({ content }) => /zithern/.test(content))).toEqual([]);
      // What is left of it in answers is known, and goes with the visitor.
      expect((await after.as("visitor").delete("/v1/me?confirm=true")).body).toMatchObject({ verified: true });
      await after.stop();
      expect(await filesHolding(after.dir, ["zithern"])).toEqual([]);
    });
});
