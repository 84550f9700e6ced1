/** The opposite of what is said: told by how it begins and ends, and by what is said to be loved. English. */

const LIKING = /\b(?:love|adore|enjoy|like|made of money|a fan|fond of|live for|what i need|what i want|what i love)\b/iu;
const MOCKING_START =
  /^(?:yeah,? (?:right|sure)|as if\b|(?:oh |sure|right|yeah|yes)[,!]? ?because|just what (?:i|we)|exactly what (?:i|we)|well done|(?:oh|wow|great|brilliant|fantastic|wonderful|lovely|super|terrific|marvellous)[,!.]* (?:great|joy|how (?:nice|lovely)|just what|exactly what|another|nothing better|i (?:just|absolutely|really|totally) ))/iu;
const MOCKING_END =
  /(?:[,;–—-]|\.{2,}|…)\s*not\s*[.!]*$|\bNOT\s*[.!]*$|\bsaid (?:no ?one|nobody|no (?:one|guest|man|woman|human) ever)\b|(?:[,;–—-]|\.{2,}|…)\s*(?:yeah right|as if|my foot|i don't think so|sure|obviously not)\s*[.!]*$/u;
const TAKEN_BACK = /^(?:not|yeah,? right|as if|said (?:no ?one|nobody).*|i wish|in your dreams|sure)[\s.!…]*$/iu;
/** What nobody loves: a thing like that is meant the other way round. */
const UNPLEASANT =
  /\b(?:queu(?:e|es|eing|ing)|waiting|wait in|standing in|stood in|paying|being (?:ignored|overcharged|kept|stuck|put|told|rained|pushed|squashed)|getting (?:rained|wet|soaked|lost|ignored|overcharged|pushed)|stuck in|traffic|delays?|(?:three|two|four|five|\d+)[- ](?:hours?|minutes?) (?:queue|wait|delay))\b/iu;

/** `next` is the sentence after it: "Not." takes back what stands before. */
export function isIronic(sentence: string, next: string): boolean {
  const said = sentence.replace(/[’‘]/gu, "'").trim();
  if (MOCKING_END.test(said) || TAKEN_BACK.test(next.trim())) return true;
  if (!LIKING.test(said)) return false;
  if (UNPLEASANT.test(said) && !/\b(?:hate|n't|not|never|can't)\b/iu.test(said) && !/\bdislike/iu.test(said)) return true;
  return MOCKING_START.test(said);
}
