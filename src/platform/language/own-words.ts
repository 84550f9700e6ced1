/**
 * Which part of a user's message is the user speaking. Mail and web text that they paste, what they report of others, code,
 * and what they ask to have translated or repeated are somebody else's words: nothing in them is a command or a preference.
 */

/** Stands for each UTF-16 unit of foreign text, so that positions stay those of the message. */
export const FOREIGN = "\uFFFC";

/** Quotation marks, opening and closing. Single ones are left alone: they are apostrophes as a rule. */
const QUOTED =
  /"[^"\n]{0,4000}"|“[^”]{0,4000}”?|„[^“”]{0,4000}[“”]?|«[^»]{0,4000}»?|「[^」]{0,4000}」?|『[^』]{0,4000}』?|``[^`]{0,4000}``/gu;
/** A title or a name in quotation marks stays the user's own: “Hamlet”, "The Blue Room". */
const SHORT_TITLE_WORDS = 3;
const TITLE_WORDS = 8;

const FENCE = /(```|~~~)[\s\S]*?(?:\1|$)/g;
const TAG_BLOCK = /<([a-z][\w:-]*)\b[^<>]*>[\s\S]*?(?:<\/\1\s*>|$)/gi;
const QUOTE_LINE = /^[ \t]*(?:>|\|[ \t]|&gt;)[^\n]*$/gm;

/** Lines after which the rest of a message is a mail or a page that was pasted. */
const PASTED_FROM_HERE =
  /^(?:[ \t]*-{2,}[^\n]*(?:original|forwarded|weitergeleitet|ursprüngliche|transféré|reenviado|inoltrato)[^\n]*|[ \t]*(?:begin forwarded message|forwarded message|anfang der weitergeleiteten)[^\n]*|[ \t]*(?:from|von|de|da|sender|subject|betreff|objet|asunto|oggetto|fwd?|aw|re|tr|rv)[ \t]*:[^\n]*(?:\n|$)|[ \t]*(?:on|am|le|el|il)\b[^\n]{5,120}(?:wrote|schrieb|a écrit|escribió|ha scritto)[^\n]{0,60}:)/im;

/** Somebody else speaks from the colon on. The reporter is not the user: "as I said:" is their own. */
const REPORTING =
  /\b(?:wrote|writes|written|said|says|saying|texted|emailed|e-mailed|mailed|posted|posts|commented|tweeted|replied|answered|told (?:me|us)|tells (?:me|us)|reads|states|quotes?|according to[^:\n]{1,60}|schrieb|schreibt|geschrieben|sagte|sagt|gesagt|meinte|meint|laut[^:\n]{1,60}|écrit|dit|écrivait|disait|selon[^:\n]{1,60}|escribió|escribe|dijo|dice|decía|según[^:\n]{1,60}|scritto|scrive|detto|diceva|disse|secondo[^:\n]{1,60}|escreveu|disse|diz|schreef|zei|zegt|napisał|написал[аи]?|сказал[аи]?|пишет)\s*[:：,]?\s*[:：]/iu;
const FIRST_PERSON_REPORT = /(?:^|[\s,])(?:i|i've|we|ich|wir|je|j'ai|nous|yo|ho|ich habe|he dicho|как я)\b[^.!?\n]{0,25}$/iu;
/** "I'll say it again:" leads to the speaker's own words. */
const FIRST_PERSON_WORK = /(?:^|[\s,])(?:i|i'll|i’ll|we|let me|ich|je|yo|io)(?: will| must| can only| just| only| also)*\s+$/iu;

/** Something was received, copied or is to be worked on; what follows the colon is that thing. */
const HANDED_OVER =
  /\b(?:e-?mail|mail|message|letter|review|article|page|website|web ?site|blog|post|tweet|transcript|document|pdf|newsletter|advert(?:isement)?|ad|flyer|brochure|description|screenshot|chat ?log|log|output|result|quote|comment|caption|lyrics|poem|story|script|nachricht|brief|bewertung|artikel|seite|courriel|lettre|avis|article|carta|mensaje|correo|reseña|artículo|página|messaggio|lettera|recensione|articolo|pagina)s?\b[^:\n]{0,60}:/iu;
const WORK_ON =
  /\b(?:translate|translation|summari[sz]e|rewrite|rephrase|paraphrase|proofread|correct|explain|analy[sz]e|repeat|echo|print|type|say|spell|decode|decrypt|decipher|pronounce|read(?: this| out)?|übersetz\w*|wiederhol\w*|zusammenfass\w*|fass\w*|erklär\w*|tradui\w*|résum\w*|répèt\w*|expliqu\w*|traduc\w*|traduz\w*|resum\w*|repit\w*|repet\w*|ripet\w*|riassum\w*|explic\w*|spieg\w*)\b[^:\n]{0,60}:/iu;
const ROLE_LINE =
  /^[ \t]*(?:\[|#+[ \t]*|<)?(?:system|assistant|developer|tool|function|user|human|ai|bot|admin)(?:[ \t]*(?:message|prompt|note|result|output))?(?:\])?[ \t]*[:：>]/im;

/**
 * The message with foreign text masked by {@link FOREIGN}, unit by unit: an offset in it is the same offset in the message.
 */
export function maskForeignWords(message: string): string {
  let masked = message;
  const mask = (from: number, to: number) => {
    masked = masked.slice(0, from) + FOREIGN.repeat(to - from) + masked.slice(to);
  };
  const maskAll = (pattern: RegExp, only: (match: string) => boolean = () => true) => {
    for (const match of masked.matchAll(pattern)) if (only(match[0])) mask(match.index, match.index + match[0].length);
  };

  maskAll(FENCE);
  maskAll(TAG_BLOCK);
  maskAll(QUOTE_LINE);
  for (const rest of [PASTED_FROM_HERE, ROLE_LINE]) {
    const found = rest.exec(masked);
    if (found !== null) mask(found.index, masked.length);
  }
  for (const introducer of [REPORTING, HANDED_OVER, WORK_ON]) maskAfter(masked, introducer, mask);
  maskAll(QUOTED, (quoted) => !isTitle(quoted));
  return masked;
}

/** From an introducer's colon to the end of its paragraph; to the end of the message where the colon ends its line. */
function maskAfter(text: string, introducer: RegExp, mask: (from: number, to: number) => void): void {
  for (const match of text.matchAll(new RegExp(introducer.source, `g${introducer.flags}`))) {
    const lineStart = text.lastIndexOf("\n", match.index) + 1;
    const colon = match.index + match[0].length;
    if (introducer === WORK_ON && FIRST_PERSON_WORK.test(text.slice(lineStart, match.index))) continue;
    if (introducer === REPORTING && FIRST_PERSON_REPORT.test(text.slice(lineStart, match.index))) continue;
    const lineEnd = text.indexOf("\n", colon);
    const endsLine = text.slice(colon, lineEnd === -1 ? text.length : lineEnd).trim() === "";
    const paragraphEnd = text.indexOf("\n\n", colon);
    const to = endsLine || paragraphEnd === -1 ? text.length : paragraphEnd;
    if (to > colon) mask(colon, to);
  }
}

/** Three words, or up to eight that are capitalised as titles are, without a first person in them. */
function isTitle(quoted: string): boolean {
  const words = quoted.match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu) ?? [];
  if (words.length <= SHORT_TITLE_WORDS) return true;
  const firstPerson = /^(?:i|i'm|i’m|my|me|we|our|ich|mein|wir|je|j|mon|ma|yo|mi|io|mio)$/iu;
  return words.length <= TITLE_WORDS && words.every((word) => !firstPerson.test(word) && (word.length < 4 || /^[\p{Lu}\p{N}]/u.test(word)));
}

export interface Sentence {
  readonly text: string;
  /** Offsets in the text that was split, end exclusive. */
  readonly start: number;
  readonly end: number;
}

const ABBREVIATION =
  /(?:^|[\s(])(?:mr|mrs|ms|dr|st|prof|no|nr|vs|etc|e\.g|i\.e|approx|max|min|p\.m|a\.m|z\.b|d\.h|bzw|ca|sr|sra|m|mme|\d{1,2}|\p{Lu})\.$/iu;

/** Splits at `. ! ? …`, their full-width forms and line breaks; not after abbreviations, ordinals, or within numbers. */
export function sentencesOf(text: string): Sentence[] {
  const sentences: Sentence[] = [];
  let start = 0;
  const push = (end: number) => {
    const raw = text.slice(start, end);
    const lead = raw.length - raw.trimStart().length;
    const trimmed = raw.trim();
    if (trimmed !== "") sentences.push({ text: trimmed, start: start + lead, end: start + lead + trimmed.length });
    start = end;
  };
  for (const match of text.matchAll(/[.!?…]+["”’)\]]*(?=\s|$)|[。！？]+|\n+/gu)) {
    const end = match.index + match[0].length;
    if (match[0] === "." && ABBREVIATION.test(text.slice(Math.max(start, end - 12), end)) && !/^\s*$/u.test(text.slice(end))) continue;
    push(end);
  }
  push(text.length);
  return sentences;
}
