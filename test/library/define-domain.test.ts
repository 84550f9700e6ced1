import { describe, expect, test } from "vitest";
import { z } from "zod";
import { toolSpecs } from "../../src/agent/tool-box.js";
import { category, DEFAULT_CATEGORIES } from "../../src/domain/categories.js";
import { defineDomain, defineTool, MaitredError } from "../../src/index.js";
import { Coverage } from "../../src/memories/coverage.js";

interface Room {
  readonly id: string;
  readonly lift: boolean;
}
const find = defineTool({
  name: "find_rooms",
  description: "Lists rooms.",
  parameters: z.object({}),
  looksUp: { items: (rooms: readonly Room[]) => rooms },
  run: (): readonly Room[] => [],
});
const stepFree = {
  name: "step_free",
  description: "no stairs",
  words: { en: ["stairs"], de: ["treppen"] },
  states: ({ lift }: Room) => lift,
} as const;
const hotel = { name: "hotel", prompt: "You are at the desk.", languages: ["en", "de"], needs: [stepFree], tools: [find] } as const;

/** What is wrong, by where. */
function wrong(define: () => unknown): Record<string, string> {
  try {
    define();
  } catch (error) {
    if (error instanceof MaitredError) return Object.fromEntries(error.errors.map(({ pointer, detail }) => [pointer ?? "", detail]));
    throw error;
  }
  return {};
}

describe("a domain, described once", () => {
  test("gives the reader its needs, in every language, and a category for what must hold", () => {
    const { needs = [], categories = [] } = defineDomain(hotel);
    expect(needs).toMatchObject([{ name: "step_free", words: ["stairs", "treppen"], category: "needs" }]);
    expect(categories.filter(({ strength }) => strength === "hard").map(({ name }) => name)).toEqual(["needs"]);
  });

  test("tells coverage what its guests tell, in the languages that it claims", () => {
    const { needs = [], needTalk } = defineDomain({
      ...hotel,
      needs: [
        stepFree,
        { name: "no_feathers", description: "no feathers", words: { en: ["feathers"], de: ["federn"] }, states: () => "unknown" },
      ],
    });
    const coverage = new Coverage(needs, needTalk);
    const told = (text: string) => coverage.uncovered({ text, known: [] } as never, []).map(({ need }) => need);
    expect(told("I'm allergic to feathers")).toEqual(["no_feathers"]);
    expect(told("ich vertrage keine Federn")).toEqual(["no_feathers"]);
    expect(told("Do the pillows have feathers?")).toEqual([]);
  });

  test("two needs that are told in one sentence are two", () => {
    const substance = (name: string) => ({ name: `no_${name}`, description: `no ${name}`, words: { en: [name] }, states: () => true });
    const { needs = [], needTalk } = defineDomain({
      ...hotel,
      languages: ["en"],
      needs: [substance("penicillin"), substance("latex")],
    });
    const coverage = new Coverage(needs, needTalk);
    const told = coverage.uncovered({ text: "allergic to penicillin and latex", known: [] } as never, []);
    expect(told.map(({ need }) => need)).toEqual(["no_penicillin", "no_latex"]);
  });
});

describe("what can't be a domain is said at once, with its name and the place", () => {
  test("a table of recall that has no occasions is refused in words", () => {
    expect(wrong(() => defineDomain({ ...hotel, recall: {} as never }))).toEqual({ "/recall/occasions": "it names none" });
    expect(() => defineDomain({ ...hotel, promt: "" } as never)).toThrow(/did you mean `prompt`\?$/);
  });

  test("a category's situations are in every language of the domain, and said once", () => {
    const other = category("other", "anything else", "fact", "soft", [], "what it is about");
    const rides = { ...category("rides", "where somebody rides", "preference", "soft", []), situations: { en: ["tour"], de: ["tour"] } };
    const needs = category("needs", "what must hold", "constraint", "hard", [], "the need");
    const { recall, categories = [] } = defineDomain({ ...hotel, categories: [needs, rides, other] });
    expect(Object.keys(recall?.occasions ?? {})).toEqual(["rides"]);
    expect(categories.find(({ name }) => name === "rides")).toMatchObject({ occasions: { at: ["rides"] } });
    const english = { ...rides, situations: { en: ["tour"] } as never };
    expect(wrong(() => defineDomain({ ...hotel, categories: [needs, english, other] }))).toEqual({
      "/categories/1/situations/de": "there is no word in a language that the domain claims",
    });
    const twice = { ...hotel, categories: [needs, rides, other], recall: { occasions: { rides: { words: { en: ["tour"] } } } } };
    expect(wrong(() => defineDomain(twice))).toEqual({ "/categories/1/situations": "`recall` says it already: one of the two" });
  });

  test("the message names the domain", () => {
    expect(() => defineDomain({ ...hotel, prompt: " " })).toThrow(/^The domain "hotel": \/prompt: it is empty\.$/);
  });

  test.each<[string, () => unknown, string, RegExp]>([
    ["nothing at all", () => defineDomain(undefined as never), "/", /object/],
    ["no tools", () => defineDomain({ ...hotel, tools: undefined } as never), "/tools", /array/],
    ["an option that isn't there", () => defineDomain({ ...hotel, toolz: [] } as never), "/", /tools/],
    ["a need's field that isn't there", () => defineDomain({ ...hotel, needs: [{ ...stepFree, wrds: {} }] } as never), "/needs/0", /words/],
    [
      "a kind that isn't there",
      () => defineDomain({ ...hotel, needs: [{ ...stepFree, kind: "atmost" }] } as never),
      "/needs/0/kind",
      /at_most/,
    ],
    [
      "words that are no list",
      () => defineDomain({ ...hotel, needs: [{ ...stepFree, words: { en: "x" } }] } as never),
      "/needs/0/words/en",
      /array/,
    ],
    [
      "a tool that does nothing",
      () => defineDomain({ ...hotel, tools: [{ ...find, run: undefined }] } as never),
      "/tools/0/run",
      /function/,
    ],
    [
      "a tool without words",
      () => defineDomain({ ...hotel, tools: [{ ...find, offline: {} }] } as never),
      "/tools/0/offline/words",
      /array/,
    ],
    ["a name that can't be one", () => defineDomain({ ...hotel, name: "My Hotel" }), "/name", /small letters/],
    [
      "a need that nothing states",
      () => defineDomain({ ...hotel, needs: [{ ...stepFree, states: undefined as never }] }),
      "/needs/0/states",
      /"step_free"/,
    ],
    [
      "two needs of one name",
      () => defineDomain({ ...hotel, needs: [stepFree, { ...stepFree, name: "stepfree" }] }),
      "/needs/1/name",
      /one name/,
    ],
    [
      "a need without a word of a language",
      () => defineDomain({ ...hotel, languages: ["en", "de", "fr"] as never }),
      "/needs/0/words/fr",
      /no word/,
    ],
    [
      "a category that isn't there",
      () => defineDomain({ ...hotel, needs: [{ ...stepFree, category: "need" }] }),
      "/needs/0/category",
      /"needs"/,
    ],
    [
      "no telling which category",
      () => defineDomain({ ...hotel, categories: DEFAULT_CATEGORIES }),
      "/needs/0/category",
      /dietary, accessibility/,
    ],
    [
      "a need that holds one that isn't there",
      () => defineDomain({ ...hotel, needs: [{ ...stepFree, holds: ["lift"] }] }),
      "/needs/0/holds",
      /"lift"/,
    ],
    [
      "a tool that says nothing",
      () =>
        defineDomain({ ...hotel, tools: [defineTool({ name: "book", description: "Books.", parameters: z.object({}), run: () => 1 })] }),
      "/tools/0",
      /"book"/,
    ],
    [
      "a binding tool that doesn't say what",
      () => defineDomain({ ...hotel, tools: [{ ...find, looksUp: undefined as never, binds: {} as never }] }),
      "/tools/0/binds/items",
      /"find_rooms"/,
    ],
    ["two tools of one name", () => defineDomain({ ...hotel, tools: [find, find] }), "/tools/1/name", /"find_rooms"/],
    [
      "a situation that no category has",
      () => defineDomain({ ...hotel, recall: { occasions: { sleep: { words: { en: ["sleep"] } } } } as never }),
      "/recall/occasions/sleep",
      /no category/,
    ],
    [
      "a category's situation that the table has not",
      () =>
        defineDomain({
          ...hotel,
          categories: [category("needs", "needs", "constraint", "hard", [], null, { at: ["slep"] }), ...DEFAULT_CATEGORIES.slice(0, 1)],
          recall: { occasions: {} } as never,
        }),
      "/categories",
      /"slep"/,
    ],
  ])("%s", (_, define, pointer, why) => {
    expect(wrong(define)[pointer]).toMatch(why);
  });
});

/** Compiled with the tests: each of these lines must be refused by the compiler. */
describe("what must not compile", () => {
  const never = () => undefined;

  test("is refused by types", () => {
    const refused = () => {
      // @ts-expect-error a need says what the catalogue states of it
      defineDomain({ ...hotel, needs: [{ name: "step_free", description: "no stairs", words: { en: ["stairs"], de: ["treppen"] } }] });
      // @ts-expect-error a need has words in every language that the domain claims
      defineDomain({ ...hotel, needs: [{ ...stepFree, words: { en: ["stairs"] } }] });
      const rides = { ...category("rides", "where somebody rides", "preference", "soft", []), situations: { en: ["tour"] } };
      // @ts-expect-error situations have words in every language that the domain claims
      defineDomain({ ...hotel, categories: [rides] });
      // @ts-expect-error a second table of words
      defineDomain({ ...hotel, needTalk: { words: [] } });
      defineTool({
        name: "book",
        description: "Books.",
        parameters: z.object({ room: z.string() }),
        // @ts-expect-error what binds says how it is shown
        binds: { what: "room", items: ({ room }) => [{ id: room, lift: true }] },
        run: never,
      });
      const flights = defineTool({
        name: "find_flights",
        description: "Lists flights.",
        parameters: z.object({}),
        looksUp: { items: (found: readonly { readonly gate: number }[]) => found },
        run: (): readonly { readonly gate: number }[] => [],
      });
      // @ts-expect-error what is looked up is none of what the needs are stated of
      defineDomain({ ...hotel, tools: [flights] });
    };
    expect(refused).toBeTypeOf("function");
  });
});

test("an argument of a name that the gate adds is refused", async () => {
  const { gatedTools } = await import("../../src/gate/binding-tool.js");
  const tool = defineTool({
    name: "book",
    description: "Books.",
    parameters: z.object({ agreed: z.boolean() }),
    binds: { what: "room", items: () => [], show: () => "" },
    run: () => 1,
  });
  expect(() => gatedTools([tool], {} as never)).toThrow(/"agreed"/);
  expect(toolSpecs([tool])).toHaveLength(1);
});
