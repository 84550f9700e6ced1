import { afterEach, describe, expect, test } from "vitest";
import hotel from "../../examples/domains/hotel.js";
import restaurant from "../../examples/domains/restaurant.js";
import { createMaitred, type Domain, type Maitred } from "../../src/index.js";
import { tempDir } from "../e2e/world.js";

/** The other example domains without a model, as the dentist's is: a need in passing, a companion, a wrong name, a need told too late. */

let maitred: Maitred | undefined;
let users = 0;
afterEach(() => maitred?.close());

async function guestOf(domain: Domain) {
  maitred = await createMaitred({ memoryStorageDir: await tempDir(), domain, recallDeadlineMs: 30_000 });
  users += 1;
  const guest = maitred.for({ user: `told-${users}` });
  let sessionId: string | undefined;
  return {
    says: async (message: string) => {
      const answer = await guest.chat(message, sessionId === undefined ? {} : { sessionId });
      sessionId = answer.session_id;
      await guest.sessions.flush(sessionId, { timeoutMs: 30_000 });
      return answer.message.content;
    },
    leaves: () => {
      sessionId = undefined;
    },
  };
}

interface Story {
  readonly domain: Domain;
  readonly need: string;
  readonly named: RegExp;
  readonly looks: string;
  readonly broken: string;
  readonly fine: string;
  readonly companion: string;
  readonly along: string;
  readonly wrong: string;
  readonly right: string;
  readonly late: string;
  readonly against: RegExp;
  readonly withThem: string;
  readonly theirsLate: string;
}

const STORIES: readonly Story[] = [
  {
    domain: hotel,
    need: "I can't sleep on feathers, I'm allergic to feathers.",
    named: /feathers/i,
    looks: "what rooms are free?",
    broken: "book the garden room",
    fine: "book the lake room",
    companion: "My mother can't climb stairs.",
    along: "book the tower room for me and my mother",
    wrong: "cancel my spa day",
    right: "cancel the lake room",
    late: "I need a quiet room",
    against: /Lake Room/,
    withThem: "book the lake room for me and my mother",
    theirsLate: "My mother needs a quiet room.",
  },
  {
    domain: restaurant,
    need: "I'm allergic to nuts.",
    named: /nuts/i,
    looks: "which tables are free?",
    broken: "book the tasting menu",
    fine: "book the harbour menu",
    companion: "My husband is allergic to nuts.",
    along: "book the tasting menu for me and my husband",
    wrong: "cancel my brunch",
    right: "cancel the harbour menu",
    late: "I am vegetarian.",
    against: /harbour menu/,
    withThem: "book the harbour menu for me and my husband",
    theirsLate: "My husband is vegetarian.",
  },
];

describe.each(STORIES)("[gate-of-every-domain] the $domain.name without a model", (story) => {
  test("a need told in passing is marked and stops the booking in the next conversation", async () => {
    const { says, leaves } = await guestOf(story.domain);
    await says(story.need);
    leaves();
    expect(await says(story.looks)).toMatch(new RegExp(`against: .*${story.named.source}`, "i"));
    expect(await says(story.broken)).toMatch(/Shall I do it anyway\?$/);
    expect(await says("no")).toBe("Then I leave it as it is.");
    expect(await says(story.fine)).toMatch(/Shall I go ahead\?$/);
    expect(await says("yes")).not.toContain("Shall I");
  });

  test("a companion's need stops what is for them too", async () => {
    const { says } = await guestOf(story.domain);
    await says(story.companion);
    expect(await says(story.along)).toMatch(/Shall I do it anyway\?$/);
  });

  test("a wrong name cancels nothing, the right one what was shown", async () => {
    const { says } = await guestOf(story.domain);
    await says(story.fine);
    await says("yes");
    expect(await says(story.wrong)).toBe("I find nothing like that. Which one do you mean?");
    expect(await says(story.right)).toMatch(/Shall I go ahead\?$/);
    expect(await says("yes")).not.toContain("Shall I");
  });

  test("a need that is told too late is held against what is booked", async () => {
    const { says } = await guestOf(story.domain);
    await says(story.fine);
    await says("yes");
    expect(await says(story.late)).toMatch(story.against);
  });

  test("a companion's need that is told too late is held against what is booked for them, and not against what isn't", async () => {
    const { says } = await guestOf(story.domain);
    await says(story.fine);
    await says("yes");
    expect(await says(story.theirsLate)).not.toMatch(story.against);
    await says(story.withThem);
    await says("do it anyway");
    expect(await says(story.theirsLate)).toMatch(new RegExp(`${story.against.source}.* · against: `));
  });
});
