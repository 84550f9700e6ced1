import relationsOfGuests from "./relations.json" with { type: "json" };
import { plain } from "./vocabulary.js";

/**
 * Who a companion is, by name: the subject of their memories, the other names that these hold, and the words for the same relation.
 * Names are compared as they are; no sentence is read.
 */

const { children, child, several, groups, not_family, possessives } = relationsOfGuests;

/** Words for the same relation, by which a guest may call the same companion; a word may stand for more than one. */
export const RELATIONS: readonly (readonly string[])[] = relationsOfGuests.relations.map((names) =>
  names.some((name) => child.includes(name)) ? [...names, ...children] : names,
);
/** Words for more than one: whoever is named already is not all of them. */
const SEVERAL: ReadonlySet<string> = new Set([...children, ...several]);

/** A name without what says whose, and the other words for the same relation; itself first. */
export function namesOf(companion: string): readonly string[] {
  const words = plain(companion).trim().split(/\s+/);
  const bare = (words.length > 1 && possessives.includes(words[0] ?? "") ? words.slice(1) : words).join(" ");
  return [bare, ...RELATIONS.filter((names) => names.includes(bare)).flat()];
}

/** Whether one of a companion's names is among those of a party: "my mum" is a mother, and "family" is any of the family. */
export function isAmong(names: readonly string[], party: readonly string[]): boolean {
  const known = new Set(names.flatMap(namesOf));
  return party.some((each) => known.has(namesOf(each)[0] ?? "")) || names.some((name) => isGroup(name, party));
}

/** Whether words for a whole group take a companion in. */
export function isGroup(companion: string, words: readonly string[]): boolean {
  return !not_family.includes(namesOf(companion)[0] ?? "") && words.some((each) => groups.includes(namesOf(each)[0] ?? ""));
}

/** Whether one of a companion's names stands in what was said, as whole words. */
export function isNamedIn(names: readonly string[], said: readonly string[]): boolean {
  const wanted = names.flatMap(namesOf).filter((name) => name !== "");
  return said.some((text) => {
    const words = ` ${wordsOf(text).join(" ")} `;
    return wanted.some((name) => words.includes(` ${wordsOf(name).join(" ")} `));
  });
}

/** A party with more companions, each once, however they are called. */
export function joined(party: readonly string[], more: readonly string[]): readonly string[] {
  const all = [...party];
  for (const name of more) {
    const [bare = ""] = namesOf(name);
    const rows = SEVERAL.has(bare) ? [] : RELATIONS.filter((names) => names.includes(bare));
    const known = all.map((each) => namesOf(each)[0] ?? "");
    if (!known.some((each) => each === bare || rows.some((names) => names.includes(each) && !SEVERAL.has(each)))) all.push(name);
  }
  return all;
}

/** Words without what hangs on a name: "Jon's" is Jon. */
function wordsOf(text: string): readonly string[] {
  return (
    plain(text)
      .replace(/['\u2018\u2019\u02BC]s?(?![\p{L}\p{N}])/gu, "")
      .match(/[\p{L}\p{N}-]+/gu) ?? []
  );
}
