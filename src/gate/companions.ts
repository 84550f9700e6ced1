import relationsOfGuests from "../languages/relations.json" with { type: "json" };
import { plain } from "../platform/phrase-list.js";

/**
 * Who a companion is, by name: the subject of their memories, the other names that these hold, and the words for the same relation.
 * Names are compared as they are; no sentence is read.
 */

const { children, child, several, groups, not_family, possessives, theirs } = relationsOfGuests;

/** Words for the same relation, by which a guest may call the same companion; a word may stand for more than one. */
export const RELATIONS: readonly (readonly string[])[] = relationsOfGuests.relations.map((names) =>
  names.some((name) => child.includes(name)) ? [...names, ...children] : names,
);
/** Words for more than one: whoever is named already is not all of them. */
const SEVERAL: ReadonlySet<string> = new Set([...children, ...several]);

/** Words that stand for one relation of the guest's. */
const RELATION_WORDS: ReadonlySet<string> = new Set(RELATIONS.flat());

/** A name without what says whose, and the other words for the same relation; the one by which it is compared first. */
export function namesOf(companion: string): readonly string[] {
  const { bare, said } = readName(companion);
  return [bare, ...rowsOf(bare).flat(), said];
}

interface ReadName {
  /** By which it is compared. */
  readonly bare: string;
  /** As it was said, without "my". */
  readonly said: string;
  /** What the person is to somebody, by the first word of each row; in-laws as what they are to the spouse. */
  readonly relations: readonly string[];
  /** Whose relation they are where it isn't plainly the guest's: a name, or "" where it isn't told. Null for all others. */
  readonly of: string | null;
}

/** "my mum", "her mum", "Ida's mum", "mother of Ida", "friend Olaf"; whatever else stands there is a name as it is. */
function readName(companion: string): ReadName {
  const words = plain(companion)
    .replace(/[\u2018\u2019\u02BC]/gu, "'")
    .trim()
    .split(/\s+/);
  const [first = "", ...rest] = words.length > 1 && possessives.includes(words[0] ?? "") ? words.slice(1) : words;
  const said = [first, ...rest].join(" ");
  const behind = rest.join(" ");
  const [own] = rowsOf(said);
  if (own !== undefined) return { bare: said, said, relations: relationsOf(said), of: own[0]?.endsWith("-in-law") ? "" : null };
  if (theirs.includes(first) && rowsOf(behind).length > 0) return { bare: said, said, relations: relationsOf(behind), of: "" };
  const owns = /'s?\s/u.exec(said);
  const [owner, relation] = owns === null || owns.index === 0 ? [] : [said.slice(0, owns.index), said.slice(owns.index + owns[0].length)];
  const [, relationBefore, ownerBehind] = /^(\S+) (?:of|von|de|di|da|do) (.+)$/u.exec(said) ?? [];
  const [row] = rowsOf(relation ?? relationBefore ?? "");
  if (row?.[0] !== undefined) {
    const whose = readName(owner ?? ownerBehind ?? "").bare;
    const inLaw = rowsOf(whose).some((names) => names.includes("partner")) ? rowsOf(`${row[0]}-in-law`)[0]?.[0] : undefined;
    return { bare: inLaw ?? `${whose}'s ${row[0]}`, said, relations: [row[0]], of: inLaw === undefined ? whose : "" };
  }
  // "daughter Emma"
  if (rest.length > 0 && rowsOf(first).length > 0) return { bare: behind, said, relations: relationsOf(first), of: null };
  return { bare: said, said, relations: [], of: null };
}

function rowsOf(word: string): readonly (readonly string[])[] {
  return RELATIONS.filter((names) => names.includes(word));
}

function relationsOf(word: string): readonly string[] {
  return rowsOf(word).map(([name = ""]) => name.replace("-in-law", ""));
}

/**
 * Whether a word for a relative may mean a companion who is known under another: "her mum" a mother-in-law, "daughter" a daughter Emma;
 * or a name one that is spelled alike: "Ana" Anna.
 * "Ida's mother" is not Inés's, and the guest's own mother is no mother-in-law.
 */
export function mayMean(name: string, names: readonly string[]): boolean {
  const said = readName(name);
  return names.map(readName).some((known) => {
    if (singleLetters(said.bare) === singleLetters(known.bare)) return true;
    if (!said.relations.some((each) => known.relations.includes(each))) return false;
    if (said.of === null) return known.of === null;
    return known.of === null || !known.of || !said.of || !isOwnName(known.of) || !isOwnName(said.of) || known.of === said.of;
  });
}

function singleLetters(name: string): string {
  return name.replace(/(\p{L})\1/gu, "$1");
}

/** The relation of the guest's that a word stands for, as it is compared: one person's, and more than "a friend". Else null. */
export function ofGuest(companion: string): string | null {
  const { bare, of } = readName(companion);
  const isOne = rowsOf(bare).length > 0 && !SEVERAL.has(bare) && !groups.includes(bare) && !not_family.includes(bare);
  return isOne && (of === null || of === "") ? bare : null;
}

/** Whether two words stand for the same relation. */
export function sameRelation(a: string, b: string): boolean {
  const [left, right] = [readName(a).bare, readName(b).bare];
  return rowsOf(left).some((names) => names.includes(right));
}

/** "my", "mein"; articles too. */
function isPossessive(word: string): boolean {
  return possessives.includes(word);
}

/** "her", "ihre". */
function isOthers(word: string): boolean {
  return theirs.includes(word);
}

/** Whether it is somebody else's relative: "her mum", "Ida's mother". */
export function isTheirs(companion: string): boolean {
  return readName(companion).of !== null;
}

/** Whether it says no more than that it is somebody: "a friend". */
export function isAnybody(companion: string): boolean {
  return not_family.includes(namesOf(companion)[0] ?? "");
}

/** Whether one of a companion's names is among those of a party: "my mum" is a mother, and "family" is any of the family. */
export function isAmong(names: readonly string[], party: readonly string[]): boolean {
  const known = new Set(names.flatMap(namesOf));
  return party.some((each) => known.has(namesOf(each)[0] ?? "")) || names.some((name) => isGroup(name, party));
}

/** Whether it is no word for a relation or a group: a name of their own. */
export function isOwnName(companion: string): boolean {
  const { bare, of } = readName(companion);
  return bare !== "" && of === null && rowsOf(bare).length === 0 && !groups.includes(bare) && !not_family.includes(bare);
}

/** Whether words for a whole group take a companion in. */
function isGroup(companion: string, words: readonly string[]): boolean {
  return !isAnybody(companion) && words.some((each) => groups.includes(namesOf(each)[0] ?? ""));
}

/** Whether one of a companion's names stands in what was said, as whole words. */
export function isNamedIn(names: readonly string[], said: readonly string[]): boolean {
  const wanted = names.flatMap(namesOf).filter((name) => name !== "");
  return said.some((text) => {
    const words = ` ${wordsOf(text).join(" ")} `;
    return wanted.some((name) => words.includes(` ${wordsOf(name).join(" ")} `));
  });
}

/** Whether a relation and one of a companion's names stand side by side in what was said: "my sister Lea". */
export function areSaidTogether(relation: string, names: readonly string[], said: readonly string[]): boolean {
  const both = namesOf(relation).flatMap((word) => names.filter(isOwnName).map((name) => ` ${wordsOf(`${word} ${name}`).join(" ")} `));
  return said.some((text) => both.some((each) => ` ${wordsOf(text).join(" ")} `.includes(each)));
}

/** A party with more companions, each once, however they are called. */
export function joined(party: readonly string[], more: readonly string[]): readonly string[] {
  const all = [...party];
  for (const name of more) {
    const [bare = ""] = namesOf(name);
    const rows = SEVERAL.has(bare) ? [] : rowsOf(bare);
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

/** Who stands beside whom in a text: "my husband Karl", and not "Karl's mother Ada". One look at each word. */

const { of: ofWords, guest } = relationsOfGuests;

interface Token {
  /** Lower case, without accents, and without what hangs on a name: "Karl's" is "karl". */
  readonly word: string;
  /** "Karl's", "Jonas'". */
  readonly owns: boolean;
  readonly capital: boolean;
  /** Something but white space, quotation marks and brackets stands before it. */
  readonly parted: boolean;
}

const WORD = /[\p{L}\p{N}-]+(?:'s?(?![\p{L}\p{N}]))?/gu;
const PARTS = /[^\s"\u201C\u201D\u201E\u00AB\u00BB()]/u;

export function tokensOf(text: string): readonly Token[] {
  const line = text
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/[\u2018\u2019\u02BC]/gu, "'");
  let end = 0;
  return [...line.matchAll(WORD)].map(({ 0: found, index }) => {
    const parted = PARTS.test(line.slice(end, index));
    end = index + found.length;
    const mark = found.indexOf("'");
    const bare = mark === -1 ? found : found.slice(0, mark);
    return { word: bare.toLowerCase(), owns: mark !== -1, capital: /^\p{Lu}/u.test(bare), parted };
  });
}

/** Words that a relation has at most: "mother in law". */
const MOST_WORDS = 3;

/** The relation that begins at a word, the longest. */
function relationAt(tokens: readonly Token[], at: number): { readonly relation: string; readonly next: number } | null {
  for (let words = MOST_WORDS; words > 0; words--) {
    const said = tokens.slice(at, at + words);
    if (said.length < words || said.slice(1).some(({ parted }) => parted)) continue;
    const relation = said.map(({ word }) => word).join(" ");
    if (RELATION_WORDS.has(relation)) return { relation, next: at + words };
  }
  return null;
}

/** Names that stand right behind a relation of the guest's. `short`: a text that may begin with the relation, without "my". */
export function appositionsIn(text: string, names: ReadonlySet<string>, short: boolean): { relation: string; name: string }[] {
  const tokens = tokensOf(text);
  const most = Math.max(0, ...[...names].map((name) => name.split(" ").length));
  const found: { relation: string; name: string }[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const here = relationAt(tokens, at);
    if (here === null || ofGuest(here.relation) === null) continue;
    const { relation, next } = here;
    if (tokens[next - 1]?.owns || tokens[next]?.parted || ownerOf(tokens, at, next, names) !== null || !isTheGuests(tokens, at, short))
      continue;
    for (let words = 1; words <= most && next + words <= tokens.length; words++) {
      const name = tokens
        .slice(next, next + words)
        .map(({ word }) => word)
        .join(" ");
      if (names.has(name)) found.push({ relation, name });
    }
    at = next - 1;
  }
  return found;
}

/** "my husband", "my dear husband", and "Husband" at the beginning of a statement. "Frau Meier" is nobody's wife. */
function isTheGuests(tokens: readonly Token[], at: number, short: boolean): boolean {
  if (at === 0) return short;
  return [1, 2].some((back) => {
    const token = tokens[at - back];
    return token !== undefined && (isPossessive(token.word) || (token.owns && guest.includes(token.word)));
  });
}

/** Whose relation it is where it is told to be somebody else's, "" where no name tells whose; null where it is not told. */
function ownerOf(tokens: readonly Token[], at: number, next: number, names: ReadonlySet<string>): string | null {
  const before = tokens[at - 1];
  if (before !== undefined && tokens[at]?.parted === false && !guest.includes(before.word)) {
    if (before.owns) return before.word;
    if (isOthers(before.word)) return "";
    // "Karls Mutter"
    const whose = before.word.replace(/s$/u, "");
    if (before.capital && whose !== before.word && names.has(whose)) return whose;
  }
  const [of, behind] = tokens.slice(next, next + 2);
  const isOf = of !== undefined && behind?.capital === true && ofWords.includes(of.word) && !of.parted && !behind.parted;
  return isOf && behind !== undefined && !guest.includes(behind.word) ? behind.word : null;
}

/** Whether a name stands in a text as that of somebody whose relation is spoken of: "Karl's mother". */
export function ownsRelationIn(text: string, name: string): boolean {
  const words = name.split(" ");
  return relationsIn(text, new Set([name])).some(({ owner }) => owner !== null && owner !== "" && words.includes(owner));
}

/** Whether a relation stands in a text as somebody else's. */
export function isOthersIn(text: string, relation: string, names: ReadonlySet<string>): boolean {
  return relationsIn(text, names).some((each) => each.owner !== null && sameRelation(each.relation, relation));
}

function relationsIn(text: string, names: ReadonlySet<string>): readonly { readonly relation: string; readonly owner: string | null }[] {
  const tokens = tokensOf(text);
  return tokens.flatMap((_, at) => {
    const here = relationAt(tokens, at);
    return here === null ? [] : [{ relation: here.relation, owner: ownerOf(tokens, at, here.next, names) }];
  });
}
