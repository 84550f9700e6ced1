import { anyPhrase, phrasesIn } from "maitred/stand-in";
import words from "./data/look-back.json" with { type: "json" };

const PHRASES = anyPhrase(phrasesIn(words.phrases));
/** "The place we booked", "that wine you recommended". */
const DONE = new RegExp(`(?<!\\p{L})(?:i|we|you|my \\p{L}{1,30})(?:'ve)? (?:${phrasesIn(words.done).join("|")})(?!\\p{L})`, "iu");

/**
 * Tells questions that look back at what was said or done ("the place we booked last spring") from all others, by their words alone, so
 * that history is searched within a turn only where it can help. English, and the plainest forms of some languages. A miss is mended by
 * the agent, which has history as a tool.
 */
export function looksBack(text: string): boolean {
  const plain = text.normalize("NFKC").replaceAll("’", "'");
  return PHRASES.test(plain) || DONE.test(plain);
}
