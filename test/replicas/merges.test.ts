import { afterAll, beforeAll, expect, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { startWorld, tempDir, type World } from "../e2e/world.js";
import { sessionsOf, textsOf } from "../identities/shop.js";
import { needing } from "../support/needing.js";
import { openQdrantHttp, type QdrantHttp } from "../support/qdrant-http.js";
import { ENGINES, type EngineServer } from "./engines.js";

const VISITOR = ownerOf("default", "visitor");
const ADA = ownerOf("default", "ada");

for (const { program, name, open } of ENGINES) {
  needing(program)(`two processes on ${name}`, () => {
    let [server, qdrant]: [EngineServer | undefined, QdrantHttp | undefined] = [undefined, undefined];
    beforeAll(async () => {
      [server, qdrant] = [await open(), await openQdrantHttp()];
    }, 60_000);
    afterAll(async () => {
      await server?.close();
      await qdrant?.close();
    });

    const saidIn = async (world: World, user: string, id: string) => {
      const { body } = await world.as(user).get<{ data: { content: string }[] }>(`/v1/sessions/${id}/messages`);
      return body.data.map(({ content }) => content);
    };

    test("[merge-whole] [merge-undone] what one merges the other knows of, and what the other undoes the one lets in again", async () => {
      const variables = { ...server?.variables, QDRANT_URL: qdrant?.url ?? "" };
      const [one, other] = [await startWorld(await tempDir(), variables), await startWorld(await tempDir(), variables)];
      const { session_id } = await one.as("visitor").say("I prefer jazz concerts.");
      const kept = await other.as("visitor").say("I always sit by the aisle.");
      await one.as("ada").say("I am vegetarian.");
      const visitors = (await one.application.sessions.list(VISITOR, {})).data.map(({ id }) => id).sort();
      const merge = await one.application.identities.merge({ from: "visitor", to: "ada" });
      for (const world of [one, other]) {
        expect(await world.application.identities.resolve(VISITOR)).toBe(ADA);
        expect(await sessionsOf(world.as("visitor"))).toHaveLength(3);
        expect(await saidIn(world, "ada", session_id)).toContain("I prefer jazz concerts.");
      }
      expect(await textsOf(other.as("ada"))).toHaveLength(3);
      await other.as("visitor").say("Anything good this weekend?", { session_id });
      const aisle = (await other.application.memories.list(ADA, {})).data.find(({ text }) => /aisle/.test(text));
      await other.application.memories.forget(ADA, aisle?.id ?? "", { now: new Date() });
      expect((await other.as("ada").delete(`/v1/sessions/${kept.session_id}?purge=true&keep_memories=true`)).status).toBe(204);

      expect(await other.application.identities.undo(merge.merge_id)).toMatchObject({ state: "undone" });
      for (const world of [one, other]) {
        expect(await world.application.identities.resolve(VISITOR)).toBe(VISITOR);
        expect((await world.application.sessions.list(VISITOR, {})).data.map(({ id }) => id)).toEqual(
          visitors.filter((id) => id !== kept.session_id),
        );
        expect(await textsOf(world.as("visitor"))).toEqual([expect.stringMatching(/jazz/)]);
        expect(await textsOf(world.as("ada"))).toEqual([expect.stringMatching(/vegetarian/i)]);
        expect(await saidIn(world, "visitor", session_id)).toContain("I prefer jazz concerts.");
      }
      // Nobody is kept out any more.
      for (const world of [one, other])
        expect((await world.as("visitor").say("Good evening.", { session_id })).session_id).toBe(session_id);
      const again = await one.application.identities.merge({ from: "visitor", to: "ada" });
      expect(again.merge_id).not.toBe(merge.merge_id);
      const receipt = await other.application.privacy.erase(ADA, { by: "user" });
      expect(receipt.verified).toBe(true);
      for (const owner of [VISITOR, ADA]) {
        expect(await one.application.parts.store.journal.residue(owner)).toBe(0);
        expect(await one.application.identities.resolve(owner)).toBe(owner);
      }
    }, 120_000);

    test("[merge-whole] of two users whom each process merges with the other one is merged, and nobody is locked out", async () => {
      const variables = { ...server?.variables, QDRANT_URL: qdrant?.url ?? "" };
      const [one, other] = [await startWorld(await tempDir(), variables), await startWorld(await tempDir(), variables)];
      for (const user of ["left", "right"]) await one.as(user).say(`I prefer ${user === "left" ? "jazz" : "folk"} concerts.`);
      const merged = await Promise.allSettled([
        one.application.identities.merge({ from: "left", to: "right" }),
        other.application.identities.merge({ from: "right", to: "left" }),
      ]);
      expect(merged.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      for (const result of merged) if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "IDENTITY_MERGED" });
      for (const world of [one, other]) for (const user of ["left", "right"]) expect(await sessionsOf(world.as(user))).toHaveLength(2);
      expect(await textsOf(one.as("left"))).toHaveLength(2);
    }, 120_000);

    test("[merge-whole] [merge-undone] an owner of before that the other still works for is refused memories by hand; forks of the other lose the visitor's words", async () => {
      const variables = { ...server?.variables, QDRANT_URL: qdrant?.url ?? "" };
      const [one, other] = [await startWorld(await tempDir(), variables), await startWorld(await tempDir(), variables)];
      const owners = [ownerOf("default", "tourist"), ownerOf("default", "grace")] as const;
      const [tourist, grace] = owners;
      const { session_id } = await other.as("tourist").say("I prefer zithern concerts.");
      await other.application.memories.add(tourist, { text: "Likes opera" }, { now: new Date() });
      const { merge_id } = await one.application.identities.merge({ from: "tourist", to: "grace" });
      const added = other.application.memories.add(tourist, { text: "Likes window seats" }, { now: new Date() });
      await expect(added).rejects.toMatchObject({ code: "OWNER_ERASED" });
      const copy = (await other.as("grace").get<{ id: string }>(`/v1/sessions/${session_id}`)).body.id;
      const first = (await other.application.sessions.messages(grace, copy, {})).data[0]?.id ?? "";
      const [left, goesOn] = [
        await other.application.sessions.fork(grace, copy, first),
        await one.application.sessions.fork(grace, copy, first),
      ];
      await other.as("grace").say("Good evening to you all.", { session_id: goesOn.id });
      const [undone, ...late] = await Promise.allSettled([
        one.application.identities.undo(merge_id),
        ...Array.from({ length: 6 }, () => other.application.sessions.fork(grace, copy, first)),
      ]);
      expect(undone).toMatchObject({ status: "fulfilled", value: { state: "undone" } });
      for (const fork of late) if (fork.status === "rejected") expect(fork.reason).toMatchObject({ code: "SESSION_NOT_FOUND" });
      for (const world of [one, other]) {
        expect((await world.application.sessions.list(grace, {})).data.map(({ id }) => id)).toEqual([goesOn.id]);
        await expect(world.application.sessions.get(grace, left.id)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
        expect((await saidIn(world, "grace", goesOn.id))[0]).toBe("Good evening to you all.");
      }
      expect(await textsOf(other.as("tourist"))).toHaveLength(2);
      expect(await one.application.privacy.erase(tourist, { by: "user" })).toMatchObject({ verified: true });
      expect(await one.application.privacy.erase(grace, { by: "user" })).toMatchObject({ verified: true });
    }, 120_000);
  });
}
