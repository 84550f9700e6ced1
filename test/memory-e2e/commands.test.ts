import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { World } from "./world.js";

/** What a guest asks of the memory in words, through the whole product without a model. */

let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.close());

const LATER = 3;

describe("remember", () => {
  test("is kept in that turn, with its source, and not a second time by the extraction of the same words", async () => {
    const ada = world.guest();
    const { message, steps } = await ada.says("Please remember that I prefer aisle seats.");
    expect(message.content).toBe("I remember: prefers aisle seats.");
    expect(steps.map(({ name }) => name)).toEqual(["remember"]);
    expect(await ada.holds()).toEqual(["Prefers aisle seats"]);
    const [memory] = await ada.memories();
    expect(memory?.source?.quote).toBe("I prefer aisle seats");
    expect(memory?.seen_count).toBe(1);
  });

  test("a need that is to be remembered is a constraint, of the companion where it is theirs", async () => {
    const ada = world.guest();
    await ada.says("Remember that my mother is allergic to nuts.");
    expect(await ada.memories()).toMatchObject([{ strength: "hard", subject: "companion:mother", category: "dietary" }]);
  });
});

describe("what do you know", () => {
  test("tells what was said a moment ago, behind thanks too", async () => {
    const ada = world.guest();
    await ada.says("My mum can't do stairs and I love jazz");
    const { message } = await ada.says("Thanks! What do you know about me?");
    expect(message.content.split("\n").toSorted()).toEqual([
      "- Loves jazz",
      "- Mum cannot do stairs (must hold)",
      "This is what I remember about you:",
    ]);
  });

  test("of somebody tells of them alone", async () => {
    const ada = world.guest();
    await ada.says("My mum can't do stairs and I love jazz. My sister Lea is vegan.");
    expect((await ada.says("What do you know about my mum?")).message.content).toBe(
      "This is what I remember about your mother:\n- Mum cannot do stairs (must hold)",
    );
    expect((await ada.says("thanks, remind me what you know about Lea")).message.content).toBe(
      "This is what I remember about Lea:\n- Sister Lea is vegan (must hold)",
    );
    expect((await ada.says("What do you know about my brother?")).message.content).toBe("I remember nothing about your brother yet.");
  });
});

describe("remember, however it is asked", () => {
  test.each([
    ["Could you please remember that I'm vegan?", "Is vegan", "self"],
    ["Can you note that we don't eat beef?", "Does not eat beef", "self"],
    ["Would you make a note that I need step-free access?", "Needs step-free access", "self"],
    ["N'oublie pas que je suis végétarien.", "Je suis végétarien", "self"],
    ["Merk dir bitte, dass ich keine Nüsse esse.", "Dass ich keine Nüsse esse", "self"],
    ["Merk dir, dass meine Frau Veganerin ist.", "Dass meine Frau Veganerin ist", "companion:wife"],
    ["For the record, my wife doesn't eat fish.", "Wife does not eat fish", "companion:wife"],
    ["Please note: no dairy for me", "No dairy for me", "self"],
  ])("%s is one constraint", async (said, text, subject) => {
    const ada = world.guest();
    await ada.says(said);
    expect(await ada.memories()).toMatchObject([{ text, subject, strength: "hard", type: "constraint", status: "active" }]);
  });

  test("a companion's name is known with what they need, so that a booking for them is stopped", async () => {
    const ada = world.guest();
    await ada.says("Remember that my daughter Mia is allergic to shellfish.");
    expect(await ada.memories()).toMatchObject([{ subject: "companion:daughter", entities: ["Mia"], strength: "hard" }]);
    await ada.says("Find me a seafood restaurant in Lisbon");
    await ada.says("Two seats for the first one for Mia and me");
    expect((await ada.says("yes")).message.content).toMatch(/^I have not booked .*\n- Daughter Mia is allergic to shellfish/);
  });

  test("of two things in one request both are kept", async () => {
    const ada = world.guest();
    expect((await ada.says("Could you remember that I love jazz and my wife is vegan?")).message.content).toBe(
      "I remember: loves jazz; wife is vegan.",
    );
    expect(await ada.holds()).toEqual(["Loves jazz", "Wife is vegan"]);
  });
});

describe("a reply promises nothing that is not so", () => {
  test.each([
    "My wife and I are vegetarian.",
    "My dad's deaf.",
    "I'm on a low-salt diet until Christmas.",
    "My password is hunter2 and I like jazz.",
    "I was never allergic to peanuts.",
    "I don't want you to remember my allergies.",
    "Off the record: I hate opera",
    "I prefer aisle seats, but don't remember that.",
    "I prefer box seats but please don't save that",
    "Just between us, I hate opera.",
    "No need to remember this, but I like the front row.",
    "Maybe I like opera, who knows.",
    "My boss loves golf.",
    "I love jazz.",
    "I'm allergic to nuts.",
    "We live in Leeds.",
    "I usually book two tickets.",
    "My mother uses a wheelchair.",
    "I can't stand techno.",
    "I'd be a pirate if I could.",
  ])("%s", async (said) => {
    const ada = world.guest();
    const { content } = (await ada.says(said)).message;
    expect(content).not.toMatch(/go by that/i);
    if ((await ada.memories()).length === 0) expect(content).not.toMatch(/^I remember: |^I will remember/);
    if (/out of memory/.test(content)) expect(await ada.memories()).toEqual([]);
  });
});

describe("what do you know about me?", () => {
  test("lists what holds, in this session and the next, and after a restart", async () => {
    const ada = world.guest();
    await ada.says("I love jazz. My wife is vegan. I need step-free access.");
    const asked = async () => (await ada.newSession().says("What do you know about me?")).message.content;
    const known = await asked();
    expect(known.split("\n").sort()).toEqual(
      ["- Loves jazz", "- Needs step-free access (must hold)", "- Wife is vegan (must hold)", "This is what I remember about you:"].sort(),
    );
    await world.restart();
    expect((await asked()).split("\n").sort()).toEqual(known.split("\n").sort());
    expect((await world.guest("bob").says("What do you know about me?")).message.content).toBe("I remember nothing about you yet.");
  });
});

describe("forget", () => {
  test("[forgotten-stays-forgotten] does it in that turn, names it, and no restart, retry, promotion, reindex or repeated plan brings it back", async () => {
    const ada = world.guest();
    await ada.says("I love jazz and I'm allergic to peanuts.");
    const { sessionId: said } = ada;
    await ada.newSession().says("I live in Leeds.");
    const { message } = await ada.says("Forget that I love jazz.");
    expect(message.content).toBe("I have forgotten: Loves jazz.");
    const left = ["Is allergic to peanuts", "Lives in Leeds"];
    expect(await ada.holds()).toEqual(left);

    // Everything that writes from what was said, run again.
    await world.restart();
    await world.app.sessions.retryWriteBack(ada.owner, said ?? "");
    await world.app.parts.promotion.run({ owner: ada.owner, signal: AbortSignal.timeout(20_000) });
    await world.app.parts.reindex({ which: "all", signal: AbortSignal.timeout(20_000) });
    await world.restart();
    expect(await ada.holds()).toEqual(left);
    for (const status of ["active", "superseded", "review", "forgotten"] as const)
      expect(JSON.stringify(await ada.memories({ status }))).not.toMatch(/loves? jazz/i);

    // Its sentence is hidden wherever it could be met again.
    expect(
      JSON.stringify(await world.app.history.search(ada.owner, { query: "love jazz", limit: 20, now: world.clock.now() })),
    ).not.toMatch(/jazz/i);
    for (const asked of ["What do you know about me?", "What did I say about jazz?", "Did I tell you that I love jazz?"]) {
      const answer = await ada.newSession().says(asked);
      expect(answer.message.content).not.toMatch(/love jazz|loves jazz/i);
      expect(JSON.stringify(answer.memory.recalled)).not.toMatch(/jazz/i);
      expect(JSON.stringify(answer.elements)).not.toMatch(/I love jazz/i);
    }
  });

  test.each([
    ["I live in Ghent.", "Forget that I live in Ghent."],
    ["I love jazz.", "Please forget I told you about jazz."],
    ["I love jazz.", "Forget the jazz thing."],
    ["I love jazz.", "Remove jazz from my profile."],
    ["I live in Ghent.", "Remove Ghent from my profile."],
    ["I'm allergic to nuts.", "Forget that I'm allergic to nuts."],
    ["I love techno. I live in Ghent.", "Forget that I love techno. Forget that I live in Ghent."],
  ])("%s %s", async (said, asks) => {
    const ada = world.guest();
    await ada.says(said);
    expect((await ada.says(asks)).message.content).toMatch(/^I have forgotten: /);
    expect(await ada.holds()).toEqual([]);
  });

  test("a need that the words don't name is forgotten only on the guest's word", async () => {
    const ada = world.guest();
    await ada.says("I'm allergic to nuts.");
    const { message } = await ada.says("I don't want you to remember my allergies.");
    expect(message.content).toMatch(/^Do you mean this: “Is allergic to nuts”\?/);
    expect(await ada.holds()).toEqual(["Is allergic to nuts"]);
    expect((await ada.says("Yes")).message.content).toBe("I have forgotten: Is allergic to nuts.");
    expect(await ada.holds()).toEqual([]);
  });

  test("a liking is kept as it was told, without the wish to have it remembered", async () => {
    const ada = world.guest();
    expect((await ada.says("Please remember that I like aisle seats")).message.content).toBe("I remember: likes aisle seats.");
    expect(await ada.holds()).toEqual(["Likes aisle seats"]);
  });

  test("what nothing resembles is not known, and a yes to that takes nothing else away", async () => {
    const ada = world.guest();
    await ada.says("I live in Ghent.");
    expect((await ada.says("Forget my wife's birthday")).message.content).toMatch(/^I remember nothing like that/);
    await ada.says("Yes");
    expect(await ada.holds()).toEqual(["Lives in Ghent"]);
  });

  test("what is forgotten takes nothing along that is liked as well", async () => {
    const ada = world.guest();
    await ada.says("I prefer aisle seats.");
    await ada.says("I love jazz.");
    expect((await ada.says("Forget my jazz preference")).message.content).toBe("I have forgotten: Loves jazz.");
    expect(await ada.holds()).toEqual(["Prefers aisle seats"]);
  });

  test("small talk forgets nothing", async () => {
    const ada = world.guest();
    await ada.says("I love jazz.");
    for (const said of [
      "Forget it, take the other one.",
      "Don't forget to book!",
      "Forget the opera, book the jazz night.",
      "Forget I asked.",
    ])
      await ada.says(said);
    expect(await ada.holds()).toEqual(["Loves jazz"]);
  });

  test("what else is said with it is kept, and neither memory, window, summary nor history tells what was forgotten", async () => {
    const ada = world.guest();
    await ada.says("I love techno.");
    const { message } = await ada.says("Forget that I love techno. By the way, I'm allergic to nuts.");
    expect(message.content).toMatch(/^I have forgotten: Loves techno\./);
    expect(await ada.memories()).toMatchObject([{ text: "Is allergic to nuts", strength: "hard" }]);
    for (let turn = 0; turn < 16; turn += 1) await ada.says("Thanks!");
    await world.app.parts.reindex({ which: "all", signal: AbortSignal.timeout(20_000) });
    expect((await world.app.sessions.get(ada.owner, ada.sessionId ?? "")).summary ?? "").not.toMatch(/techno/i);
    expect(
      JSON.stringify(await world.app.history.search(ada.owner, { query: "love techno", limit: 20, now: world.clock.now() })),
    ).not.toMatch(/techno/i);
    expect((await ada.says("What did I say about techno?")).message.content).not.toMatch(/love/i);
  });

  test("in the next turn of the same conversation it is not told again", async () => {
    const ada = world.guest();
    await ada.says("I live in Ghent.");
    await ada.says("Forget that I live in Ghent.");
    expect((await ada.says("Where do I live?")).message.content).not.toMatch(/Ghent/);
  });

  test("what is said anew after it was forgotten is known again", async () => {
    const ada = world.guest();
    await ada.says("I love jazz.");
    await ada.says("Forget that I love jazz.");
    world.clock.passDays(LATER);
    await ada.newSession().says("I love jazz.");
    expect(await ada.holds()).toEqual(["Loves jazz"]);
  });

  test("asks which one where several fit, and forgets the one that is named", async () => {
    const ada = world.guest();
    await ada.says("I'm allergic to shellfish.");
    await ada.says("I like shellfish pasta.");
    expect((await ada.says("Forget my shellfish thing")).message.content).toMatch(/^Which of these do you mean\?\n1\. .+\n2\. .+$/);
    expect(await ada.holds()).toHaveLength(2);
    expect((await ada.says("The pasta")).message.content).toBe("I have forgotten: Likes shellfish pasta.");
    expect(await ada.holds()).toEqual(["Is allergic to shellfish"]);
  });

  test("everything, once the guest has said yes to it, and nothing else of anyone", async () => {
    const [ada, bob] = [world.guest(), world.guest("bob")];
    await ada.says("I love jazz. I live in Leeds.");
    await bob.says("I love jazz.");
    const asks = /Shall I forget everything that I remember about you\?/;
    for (const answer of ["No", "What is on this weekend?"]) {
      expect((await ada.says("Forget everything you know about me")).message.content).toMatch(asks);
      await ada.says(answer);
      expect(await ada.holds()).toEqual(["Lives in Leeds", "Loves jazz"]);
    }
    expect((await ada.says("Forget everything you know about me")).message.content).toMatch(asks);
    expect((await ada.says("Yes, please")).message.content).toBe("I have forgotten everything: 2 memories.");
    await world.restart();
    expect(await ada.holds()).toEqual([]);
    expect((await ada.newSession().says("What do you know about me?")).message.content).toBe("I remember nothing about you yet.");
    expect(await bob.holds()).toEqual(["Loves jazz"]);
  });
});

describe("that's not true any more", () => {
  test("ends what it is said of, and keeps it readable as what held", async () => {
    const ada = world.guest();
    await ada.says("I prefer aisle seats.");
    const before = world.clock.now().toISOString();
    world.clock.passDays(LATER);
    const { message } = await ada.newSession().says("It's no longer true that I prefer aisle seats.");
    expect(message.content).toBe("Understood. I no longer go by: prefers aisle seats.");
    expect(await ada.holds()).toEqual([]);
    expect((await ada.memories({ as_of: before })).map(({ text }) => text)).toEqual(["Prefers aisle seats"]);
    expect((await ada.newSession().says("What would you suggest?")).memory.recalled).toEqual([]);
  });

  test("said of what was just spoken of, it ends that", async () => {
    const ada = world.guest();
    await ada.says("I prefer aisle seats.");
    await ada.says("What do you know about me?");
    expect((await ada.says("That's not true any more.")).message.content).toBe("Understood. I no longer go by: prefers aisle seats.");
    expect(await ada.holds()).toEqual([]);
  });

  test("a need that is over ends by itself when it is said in plain words", async () => {
    const ada = world.guest();
    await ada.says("I'm allergic to shellfish. My wife is allergic to shellfish too.");
    world.clock.passDays(LATER);
    await ada.newSession().says("I'm no longer allergic to shellfish.");
    expect(await ada.holds()).toEqual(["Wife is allergic to shellfish"]);
    await ada.newSession().says("My wife is no longer allergic to shellfish.");
    expect(await ada.holds()).toEqual([]);
  });

  test.each([
    ["I'm allergic to nuts.", "Please do not serve nuts."],
    ["I'm allergic to nuts.", "The kitchen must not use nuts."],
    ["I'm allergic to peanuts.", "Please no more peanuts."],
    ["I'm allergic to shellfish.", "I can no longer eat shellfish at all."],
    ["I'm allergic to peanuts.", "Actually I eat meat again, but the peanut allergy stays."],
    ["I'm vegan.", "That restaurant was not vegan at all."],
    ["I use a wheelchair.", "The hotel was not wheelchair accessible last time."],
  ])("what must hold is not over by words that may mean the contrary: %s, then %s", async (said, later) => {
    const ada = world.guest();
    await ada.says(said);
    const before = await ada.holds();
    expect(before).toHaveLength(1);
    await ada.says(later);
    expect(await ada.holds()).toEqual(expect.arrayContaining([...before]));
  });
});

describe("what is to be kept out", () => {
  test("don't remember this: the round is answered, and neither memory nor history nor a later promotion has it", async () => {
    const ada = world.guest();
    const answer = await ada.says("Don't remember this: I love opera. What's on this weekend?");
    // Whether it asks to be kept out is what reading it tells, after the answer.
    expect(answer.memory.write_back).toBe("pending");
    expect(answer.message.content).toMatch(/opera/);
    expect(await ada.holds()).toEqual([]);
    await world.app.parts.promotion.run({ owner: ada.owner, signal: AbortSignal.timeout(20_000) });
    await world.app.parts.reindex({ which: "all", signal: AbortSignal.timeout(20_000) });
    expect(await ada.holds()).toEqual([]);
    expect(await world.app.history.search(ada.owner, { query: "opera", limit: 20, now: world.clock.now() })).toEqual([]);
    expect((await ada.says("What did I just ask about?")).steps.map(({ name }) => name)).not.toContain("remember");
  });

  test("incognito: short-term memory alone; nothing is recalled, kept, listed or forgotten", async () => {
    const ada = world.guest();
    await ada.says("I love jazz. I need step-free access.");
    ada.newSession();
    const metadata = { incognito: true };
    const first = await ada.says("I'm vegan. Call me Ada.", { metadata });
    expect(first.memory).toMatchObject({ status: "disabled", write_back: "disabled", to_confirm: [], recalled: [] });
    const off = /^Memory is switched off here: I keep nothing beyond this conversation/;
    expect(first.message.content).toMatch(off);
    for (const [asked, reply] of [
      ["What do you know about me?", off],
      ["Remember that I like opera.", off],
      ["Forget that I love jazz", off],
      ["My wife is allergic to nuts", off],
      ["Any ideas for Saturday?", /found/],
    ] as const) {
      const answer = await ada.says(asked);
      expect(answer.message.content).toMatch(reply);
      expect(answer.memory).toMatchObject({ status: "disabled", write_back: "disabled", to_confirm: [], recalled: [] });
      expect(answer.message.content).not.toMatch(/loves jazz/i);
    }
    await world.app.parts.promotion.run({ owner: ada.owner, signal: AbortSignal.timeout(20_000) });
    await world.app.parts.reindex({ which: "all", signal: AbortSignal.timeout(20_000) });
    await world.restart();
    expect(await ada.holds()).toEqual(["Loves jazz", "Needs step-free access"]);
    const found = await world.app.history.search(ada.owner, { query: "vegan Ada opera Saturday", limit: 20, now: world.clock.now() });
    expect(JSON.stringify(found)).not.toMatch(/vegan|Ada|opera|Saturday/);
  });
});
