import { expect, test } from "vitest";
import { checked, need, type Proposal } from "./message.js";

/** What a model that reads well proposes of everyday sentences becomes memory, in whatever tone and place they are said. */
test.each<[string, Proposal]>([
  [
    "My wife's allergic to nuts",
    need({
      quote: "My wife's allergic to nuts",
      text: "Wife is allergic to nuts",
      about: "nuts",
      need: "no_nuts",
      subject: "companion:wife",
    }),
  ],
  [
    "I'm allergic to shellfish haha sorry",
    need({ quote: "I'm allergic to shellfish", text: "Is allergic to shellfish", about: "shellfish" }),
  ],
  [
    "is there a table for two, my wife is allergic to nuts?",
    need({ quote: "my wife is allergic to nuts", text: "Wife is allergic to nuts", about: "nuts", subject: "companion:wife" }),
  ],
  ["I think window seats suit me", { quote: "I think window seats suit me", text: "Likes window seats", category: "seating" }],
  [
    "she is allergic to nuts",
    need({ quote: "she is allergic to nuts", text: "Mother is allergic to nuts", about: "nuts", subject: "companion:mother" }),
  ],
  [
    "yes, book it, and I'm in a wheelchair now",
    need({
      quote: "I'm in a wheelchair now",
      text: "Uses a wheelchair",
      about: "wheelchair",
      need: "step_free",
      category: "accessibility",
    }),
  ],
  [
    "80, up to 150 for opera",
    { quote: "up to 150 for opera", text: "Budget up to 150 for opera", condition: "for opera", category: "budget" },
  ],
  ["moving in March", { quote: "moving in March", text: "Moves in March", category: "location", valid_from: "2027-03-01" }],
])("%s", (text, proposal) => {
  const [operation] = checked(text, [proposal]).operations;
  expect(operation).toMatchObject({
    waits: null,
    statement: { text: proposal.text, strength: proposal.strength ?? "soft", subject: proposal.subject ?? "self" },
  });
});
