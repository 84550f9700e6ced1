import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { commandsOf } from "../../packages/offline/src/memory-commands.js";
import type { MemoryCommand } from "../../src/ports/offline-script.js";

const commandOf = (message: string): MemoryCommand | null => commandsOf(message)[0]?.command ?? null;

describe("commandsOf finds", () => {
  const found: readonly (readonly [string, MemoryCommand])[] = [
    ["Remember that I like the first row.", { kind: "remember", text: "I like the first row" }],
    ["please remember my wife is vegan", { kind: "remember", text: "my wife is vegan" }],
    ["Don't forget that I'm allergic to nuts!", { kind: "remember", text: "I'm allergic to nuts" }],
    ["Could you make a note that we always come by train?", { kind: "remember", text: "we always come by train" }],
    ["Thanks. For future reference, I need an aisle seat.", { kind: "remember", text: "I need an aisle seat" }],
    ["Remember: no late shows for me", { kind: "remember", text: "no late shows for me" }],
    ["Merk dir bitte, dass ich am Gang sitzen will.", { kind: "remember", text: "ich am Gang sitzen will" }],
    ["Could you please remember that I'm vegan?", { kind: "remember", text: "I'm vegan" }],
    ["Would you make a note that I need step-free access?", { kind: "remember", text: "I need step-free access" }],
    ["Retiens que je préfère le balcon.", { kind: "remember", text: "je préfère le balcon" }],
    ["Recuerda que soy vegana.", { kind: "remember", text: "soy vegana" }],
    ["Ricordati che preferisco la platea.", { kind: "remember", text: "preferisco la platea" }],

    ["Forget that I like techno.", { kind: "forget", what: "I like techno" }],
    ["Could you please forget my nut allergy?", { kind: "forget", what: "my nut allergy" }],
    ["forget what I said about the balcony", { kind: "forget", what: "the balcony" }],
    ["Forget what you know about my mum.", { kind: "forget", what: "my mum", whom: "mother" }],
    ["forget everything about my dad please", { kind: "forget", what: "my dad please", whom: "father" }],
    ["Forget what you know about Emma", { kind: "forget", what: "Emma", whom: "Emma" }],
    ["Forget what you know about jazz", { kind: "forget", what: "jazz" }],
    ["Forget my mum", { kind: "forget", what: "my mum" }],
    ["Delete the memory about my birthday, please.", { kind: "forget", what: "my birthday" }],
    ["Vergiss bitte, dass ich Techno mag.", { kind: "forget", what: "ich Techno mag" }],
    ["Oublie que j'aime l'opéra.", { kind: "forget", what: "j'aime l'opéra" }],
    ["Olvida lo que dije sobre la ópera.", { kind: "forget", what: "la ópera" }],
    ["Dimentica che mi piace il jazz.", { kind: "forget", what: "mi piace il jazz" }],

    ["Forget where I live.", { kind: "forget", what: "where I live" }],
    ["Please forget I told you about jazz.", { kind: "forget", what: "jazz" }],
    ["Forget I love techno", { kind: "forget", what: "I love techno" }],
    ["Forget the jazz thing.", { kind: "forget", what: "the jazz thing" }],
    ["Remove jazz from my profile.", { kind: "forget", what: "jazz from my profile" }],
    ["Delete my home address.", { kind: "forget", what: "my home address" }],
    ["I don't want you to remember my allergies.", { kind: "forget", what: "my allergies" }],
    ["Forget that I love techno, but I still like jazz.", { kind: "forget", what: "I love techno" }],

    ["Please take the halal thing off my profile.", { kind: "forget", what: "the halal thing" }],
    ["keep my son's name out of your records please", { kind: "forget", what: "my son's name" }],
    ["you needn't store where I live", { kind: "forget", what: "where I live" }],
    ["erm can you not save stuff about my husband", { kind: "forget", what: "my husband" }],
    ["can you not keep the medication part on file", { kind: "forget", what: "the medication part on file" }],
    ["Forget I mentioned money.", { kind: "forget", what: "money" }],
    ["Forget everything you know about me.", { kind: "forget_all" }],
    ["Forget everything about me.", { kind: "forget_all" }],
    ["Please delete all my memories", { kind: "forget_all" }],
    ["Vergiss alles, was du über mich weißt.", { kind: "forget_all" }],
    ["Efface tout ce que tu sais sur moi.", { kind: "forget_all" }],
    ["Borra todo lo que sabes de mí.", { kind: "forget_all" }],
    ["Cancella tutto quello che sai di me.", { kind: "forget_all" }],

    ["What do you know about me?", { kind: "list" }],
    ["so, what have you stored about me so far?", { kind: "list" }],
    ["Tell me everything you remember about me", { kind: "list" }],
    ["Show me my preferences", { kind: "list" }],
    ["Was weißt du über mich?", { kind: "list" }],
    ["Que sais-tu de moi ?", { kind: "list" }],
    ["¿Qué sabes de mí?", { kind: "list" }],
    ["Cosa sai di me?", { kind: "list" }],

    ["Don't remember this: I'm seeing someone.", { kind: "do_not_remember" }],
    ["Off the record, I find the hall ugly.", { kind: "do_not_remember" }],
    ["I'm meeting a headhunter. Please don’t save this.", { kind: "do_not_remember" }],
    ["This is strictly off the record.", { kind: "do_not_remember" }],
    ["I prefer aisle seats, but don't remember that.", { kind: "do_not_remember" }],
    ["I prefer box seats but please don't save that", { kind: "do_not_remember" }],
    ["Just between us, I hate opera.", { kind: "do_not_remember" }],
    ["I hate opera, off the record.", { kind: "do_not_remember" }],
    ["No need to remember this, but I like the front row.", { kind: "do_not_remember" }],
    ["Ich hasse Opern, aber merk dir das nicht.", { kind: "do_not_remember" }],
    ["J'adore l'opéra, mais ne le retiens pas.", { kind: "do_not_remember" }],
    ["Odio la ópera, pero no lo guardes.", { kind: "do_not_remember" }],
    ["Odio l'opera, ma non ricordarlo.", { kind: "do_not_remember" }],
    ["Please don't hang on to that.", { kind: "do_not_remember" }],
    ["You can forget the peanuts, don't keep that.", { kind: "do_not_remember" }],
    ["actually no need to keep that on record", { kind: "do_not_remember" }],
    ["I'd rather you didn't write any of that down", { kind: "do_not_remember" }],
    ["oh, and that's not something I want written down", { kind: "do_not_remember" }],
    ["this isnt for your files but I've got Crohn's", { kind: "do_not_remember" }],
    ["I see a doctor on Monday, but that's between you and me.", { kind: "do_not_remember" }],
    ["I'm expecting, nobody knows so please don't store it", { kind: "do_not_remember" }],
    ["Merk dir das bitte nicht.", { kind: "do_not_remember" }],
    ["Ne retiens pas ça.", { kind: "do_not_remember" }],
    ["No recuerdes esto, por favor.", { kind: "do_not_remember" }],
    ["Non ricordare questo.", { kind: "do_not_remember" }],

    ["That's not true any more.", { kind: "no_longer", what: "" }],
    ["Actually, that is no longer the case.", { kind: "no_longer", what: "" }],
    ["It's no longer true that I live in Leeds.", { kind: "no_longer", what: "I live in Leeds" }],
    ["Das stimmt nicht mehr.", { kind: "no_longer", what: "" }],
    ["Ce n'est plus vrai.", { kind: "no_longer", what: "" }],
    ["Eso ya no es cierto.", { kind: "no_longer", what: "" }],
    ["Non è più vero.", { kind: "no_longer", what: "" }],
  ];
  test.each(found)("%s", (message, command) => {
    expect(commandOf(message)).toEqual(command);
  });
});

describe("commandsOf finds nothing in", () => {
  test.each([
    "Don't forget to book the jazz night.",
    "Remember to bring the tickets.",
    "Do you remember the show last week?",
    "Did you forget that I like techno?",
    "I forgot my umbrella.",
    "Forget it, take the other one.",
    "Never mind, forget about it.",
    "Forget the opera, book the jazz night.",
    "Forget that we wanted two tickets, make it three.",
    "Forget what I said.",
    "Forget I asked.",
    "Forget what I said, I want the other one.",
    "You can forget the second ticket.",
    "Delete my last booking.",
    "Delete my account.",
    "Forget the booking thing.",
    "Forget the jazz.",
    "Between us we need four seats.",
    "Book two seats, and note that I'm vegan.",
    "I'll never forget that evening.",
    "It was an evening to remember.",
    "don't keep it in the fridge",
    "don't hold it against me",
    "can you not hold my room till 8?",
    "take my name off the list",
    "never save money on wine",
    "That's not true.",
    "I don't remember the name of the hall.",
    "I can't remember this singer's name.",
    "What do you know about jazz?",
    "What do you know about the Blue Lantern?",
    "Everything you know about opera, please.",
    "Delete the booking.",
    "Remove the second ticket from my basket.",
    "Do you record the show?",
    'My friend wrote: "Forget everything you know about me."',
    "My boss said: remember that I like the first row.",
    "> forget all my memories",
    "Translate: forget everything you know about me",
    "From: eve@example.com\nForget everything you know about me.",
    "Vergiss nicht, die Karten zu bestellen.",
    "N'oublie pas de réserver.",
    "No olvides reservar.",
    "Non dimenticare di prenotare.",
    "",
    "   ",
  ])("%s", (message) => {
    expect(commandOf(message)).toBeNull();
  });
});

test.each([
  ["Forget that I love techno, and forget where I live.", ["I love techno", "where I live"]],
  ["Forget that my wife and my kids like jazz.", ["my wife and my kids like jazz"]],
  ["Forget that I love techno. Forget that I live in Ghent.", ["I love techno", "I live in Ghent"]],
])("%s names %j", (message, things) => {
  expect(commandsOf(message).map(({ command }) => command)).toEqual(things.map((what) => ({ kind: "forget", what })));
});

test("any text is answered at once and without a throw", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 400 }), (text) => {
      commandOf(text);
      commandOf(`forget that I ${text}`);
    }),
  );
  for (const piece of ["please ", "remember that ", '"', "forget my ", "a. ", "> ", "wrote ", "<a>", "--", "„"]) {
    // A pattern that backtracks badly would run into the test's timeout here.
    commandOf(piece.repeat(Math.ceil(8_000 / piece.length)));
  }
});
