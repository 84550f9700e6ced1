/**
 * What is said beside the statement and changes nothing in it: ", unfortunately", "to be honest,", ", as I told you". Told by its
 * form: set off by a comma or a beginning or an end, an adverb in -ly, or a comment of the speaker's on what they say.
 */

const COMMENT =
  "by the way|btw|fyi|tbh|of course|of all things|to be (?:honest|fair|frank|clear|precise|exact|sure|on the safe side)|truth be told|if i'm honest|in (?:all )?honesty|believe it or not|funny enough|as (?:always|ever|usual|it happens|it goes|a rule)|as (?:i|you|we)(?:'ve| have| can| may| might| will| 'd| think| said| know)[^,.;!]{0,40}|as (?:i|you|we) \\p{L}+(?: you)?(?: before| already| last time| earlier)?|(?:just )?so (?:that )?you(?:'re| are)? (?:know|aware)(?: for (?:the future|next time))?|you (?:know|see)|mind(?: you)?|i(?:'m| am) (?:afraid|sorry(?: to say)?|sad to say|told)|i (?:must|have to|should|'ll|will) (?:say|admit|confess|add|mention)|i(?:'ll)? admit(?: it)?|i know|i tell you|trust me|though|however|in fact|in general|in case you (?:need|wonder|didn't)[^,.;!]{0,30}|for (?:the record|future reference|your information|what it's worth|once and for all)|if that helps|if you don't mind|so (?:please )?(?:be careful|careful|take care|watch out|be warned|please note|keep that in mind|bear that in mind|no worries|don't worry)(?: please)?|be warned|fair warning|what can i say|shame|alas|lol|everyone does|thanks(?: a lot)?|thank you|cheers|please";
/** One word that comments: "sadly". "Usually", "early" and the like say something. */
const ADVERB =
  "(?!(?:usually|generally|normally|mostly|regularly|really|only|early|family|daily|weekly|monthly|rarely|hardly|especially|particularly|possibly|probably|jelly|curly|italy|sicily|nearly|barely|emily|sally|kelly|molly|holly|lily|billy)\\b)\\p{Ll}{3,}ly(?: enough)?";

const AT_START = new RegExp(`^(?:${COMMENT}|${ADVERB})(?:\\s*[,:;!–—-]\\s*|\\s+(?=(?:i|we|my|our|i'm|we're|i've|we've)\\b))`, "iu");
const AT_END = new RegExp(
  `(?:\\s*[,;:–—(-]+\\s*|\\s+(?=(?:by the way|btw|to be honest|tbh|of course|i'm afraid|though|please)\\b))(?:${COMMENT}|${ADVERB})\\)?$`,
  "iu",
);
const BETWEEN = new RegExp(`\\s*[,–—(]\\s*(?:${COMMENT}|${ADVERB})\\s*[,–—)]\\s*`, "giu");

const BRACKETS = /\s*\([^()]{1,40}\)(?=[\s,.!]|$)\s?/gu;
/** "My son, who is coming with us, is allergic …" */
const WHO = /,\s+who(?:'s|'ll|\s)[^,]{2,50},\s*(?=\p{L})/gu;

/** The clause without what is said beside it. White space and apostrophes are plain already. */
export function withoutAsides(clause: string): string {
  let text = clause.replace(BRACKETS, " ").replace(WHO, " ").replace(BETWEEN, " ").trim();
  for (let before = ""; before !== text; ) {
    before = text;
    text = text
      .replace(AT_START, "")
      .replace(/[\s.!,;:…]+$/u, "")
      .replace(AT_END, "");
  }
  return text;
}
