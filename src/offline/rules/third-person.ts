/** A guest's plain clause as it is said of them: "I try not to pay more" → "Tries not to pay more". Their own words, so that the quote bears it out. */

const IRREGULAR: Readonly<Record<string, string>> = {
  am: "Is",
  was: "Was",
  have: "Has",
  do: "Does",
  go: "Goes",
  can: "Can",
  could: "Could",
  will: "Will",
  would: "Would",
  must: "Must",
  should: "Should",
};
/** Forms that are the same in all persons: "gave up", "stopped". */
const PAST = /^(?:gave|stopped|quit|went|became|turned|grew|cut|had|moved|came|\p{L}+ed)$/iu;

export function inThirdPerson(clause: string): string {
  const match = /^I (?<adverb>(?:never|only|rarely|hardly|seldom|sometimes|still|also) )?(?<verb>[\p{L}']+)(?<rest>.*)$/u.exec(clause);
  if (match === null) return capital(others(clause.replace(/^my /iu, "")));
  const { adverb = "", verb = "", rest = "" } = match.groups ?? {};
  if (adverb !== "") return capital(`${adverb}${inThirdPerson(`I ${verb}${rest}`).replace(/^./u, (letter) => letter.toLowerCase())}`);
  return `${IRREGULAR[verb.toLowerCase()] ?? capital(PAST.test(verb) && !/^need/iu.test(verb) ? verb : withS(verb))}${others(rest)}`.replace(
    /^Can not/u,
    "Cannot",
  );
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function withS(verb: string): string {
  const plain = verb.toLowerCase();
  if (/(?:ch|sh|ss|x|o)$/u.test(plain)) return `${plain}es`;
  return /[^aeiou]y$/u.test(plain) ? plain.replace(/y$/u, "ies") : `${plain}s`;
}

function others(text: string): string {
  return text
    .replace(/\b(?:my|our)\b/giu, "their")
    .replace(/\b(?:me|us)\b/giu, "them")
    .replace(/\bI am\b/gu, "they are")
    .replace(/\bI\b/gu, "they");
}
