/** "I used to hate jazz but now I love it": what "it" stands for in the clause that follows. English. */

const NAMES_A_THING =
  /\b(?:i|we)(?:(?:'ve| have)|'m| am|'re| are)? (?:not allergic to|used to|never used to|didn't use to|never really|never|once) (?:hate|hated|love|loved|like|liked|dislike|disliked|detest|adore|enjoy|enjoyed|loathe|loathed|can't stand)? ?(?<what>[\p{L}\p{N} '&-]{3,40}?)[\s.,!]*$/iu;
const POINTS_BACK =
  /^(?<own>(?:(?:but|and|now|these days)[\s,]+)*(?:i|we)(?:'ve| have)? (?:(?:now|just|actually|really|absolutely|always|don't|do not|come to|have come to|can't stand|quite) )*(?:love|like|adore|hate|dislike|enjoy|prefer|stand))\s+(?:it|them)(?=[\s.,!]|$)/iu;

export function thingNamed(clause: string): string | null {
  return NAMES_A_THING.exec(clause.replace(/[’‘]/gu, "'"))?.groups?.what ?? null;
}

export function withThing(clause: string, thing: string): string {
  return clause.replace(POINTS_BACK, (_all, own: string) => `${own} ${thing}`);
}
