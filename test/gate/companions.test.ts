import { describe, expect, test } from "vitest";
import { companionsIn, leftOut, staysBehind } from "../../packages/offline/src/script/party-words.js";
import { isAmong, isNamedIn, joined } from "../../src/gate/companions.js";

test.each([
  ["Two tickets for my mother and me", ["mother"]],
  ["for me, my wife and our kids", ["wife", "kids"]],
  ["zwei Karten für mich und meine Mutter", ["mutter"]],
  ["pour ma mère et moi", ["mere"]],
  ["para mí y mi hijo", ["hijo"]],
  ["without my mother", []],
  ["the best seats", []],
  ["Two seats for me and Mia", ["Mia"]],
  ["Mia and I would like two seats", ["Mia"]],
  ["for me and Mia, but Mia isn't coming after all", []],
])("%j names %j", (words, names) => expect(companionsIn(words)).toEqual(names));

describe("words that take a companion out of the party", () => {
  test.each([
    ["mother", "without my mother"],
    ["mother", "My mother isn't coming"],
    ["mother", "my mum can't make it after all"],
    ["mother", "Sorry, my mother won't be coming."],
    ["Sam", "Sam isn't coming"],
    ["mother", "Just me"],
    ["mother", "No, only me this time"],
    ["son", "I'll go alone"],
    ["Mutter", "Meine Mutter kommt nicht mit"],
    ["mother", "ohne meine Mutter"],
    ["mother", "sans ma mère"],
    ["mother", "mi madre no viene"],
    ["mother", "senza mia madre"],
    ["mother", "minha mãe não vem"],
  ])("%s: %j does", (name, words) => expect(staysBehind(name, words)).toBe(true));

  test.each([
    ["mother", "Make it three"],
    ["mother", "yes"],
    ["mother", "Make it one"],
    ["mother", "I won't go without my mother"],
    ["mother", "without my mother's wheelchair"],
    ["mother", "If my mother isn't coming, I'd cancel"],
    ["mother", "Is my mother not coming?"],
    ["mother", "My mother can't do stairs"],
    ["mother", "My mother isn't coming alone"],
    ["mother", "My mother doesn't like the front"],
    ["mother", "It's not just me"],
    ["mother", "Just me and my mother"],
    ["mother", "just me and her"],
    ["mother", "without my father"],
    ["mother", "My mother is coming"],
    ["wife", "My wife Helen is not coming"],
    ["Sam", "Sam isn't coming, just two then"],
    ["mother", "ich gehe nicht ohne meine Mutter"],
  ])("%s: %j does not", (name, words) => expect(staysBehind(name, words)).toBe(false));
});

test.each([
  ["Mia is not coming", ["Mia"]],
  ["Mia's not coming", ["Mia"]],
  ["Two seats for the quartet, Mia is not coming", ["Mia"]],
  ["Just me and Tom", []],
  ["If Mia isn't coming, I'd cancel", []],
  ["Mia is coming, Tom isn't coming", ["Tom"]],
  ["Book it, but without Mia", ["Mia"]],
])("%j leaves out %j of Mia and Tom", (words, names) => expect(leftOut(["Mia", "Tom"], words)).toEqual(names));

test("a companion is in the party once, however they are called, and a word for several stands beside each of them", () => {
  expect(joined(["mother"], ["my mum", "Sam", "Sam"])).toEqual(["mother", "Sam"]);
  expect(joined(["son"], ["kids"])).toEqual(["son", "kids"]);
  expect(joined(["my friend Olaf", "wife's mother"], ["Olaf", "mother-in-law"])).toEqual(["my friend Olaf", "wife's mother"]);
  expect(joined(["kids"], ["daughter"])).toEqual(["kids", "daughter"]);
});

describe("who is who, by name", () => {
  test.each<[readonly string[], readonly string[], boolean]>([
    [["mother"], ["my mum"], true],
    [["mother"], ["Mère"], true],
    [["husband", "Jon"], ["jon"], true],
    [["daughter", "Emma"], ["kids"], true],
    [["mother"], ["everyone"], true],
    [["colleague"], ["everyone"], false],
    [["mother"], ["father"], false],
    [["Ida's mother"], ["madre de Ida"], true],
    [["Ida's mother"], ["Ida’s mum"], true],
    [["mother"], ["Ida's mother"], false],
    [["mother-in-law"], ["husband's mother"], true],
    [["friend Olaf"], ["Olaf"], true],
    [["Sam"], ["Samuel"], false],
    [["mother"], [], false],
  ])("%j among %j: %s", (names, party, expected) => expect(isAmong(names, party)).toBe(expected));

  test.each<[readonly string[], string, boolean]>([
    [["husband", "Jon"], "dinner with Jon", true],
    [["husband", "Jon"], "Jon’s birthday", true],
    [["mother"], "for me and my Mom", true],
    [["Jon"], "Jonathan's place", false],
    [["mother"], "another one", false],
  ])("%j in %j: %s", (names, said, expected) => expect(isNamedIn(names, [said])).toBe(expected));
});
