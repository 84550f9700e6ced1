import relationsOfGuests from "../languages/relations.json" with { type: "json" };
import { isOthers, isPossessive, ofGuest, RELATION_WORDS, sameRelation } from "./companions.js";

/** Who stands beside whom in a text: "my husband Karl", and not "Karl's mother Ada". One look at each word. */

const { of: ofWords, guest } = relationsOfGuests;

export interface Token {
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
