import { needTalkOf, needWordsOf } from "../languages/need-talk.js";
import { SMALL_TALK } from "../languages/small-talk.js";
import { type LatinLanguage, latinLanguageOf, likelyLanguagesOf } from "../platform/language/stop-words.js";
import { folded } from "../platform/phrase-list.js";
import type { Need } from "../ports/agent.js";
import type { NeedTalk } from "../ports/need-talk.js";
import { broughtAlong } from "./checks/brought-along.js";
import { Phrases, Words } from "./checks/phrases.js";

/** A longer message, or question of the assistant's, says more than it asks. */
const MAX_CHARS = 300;
/** So many words of the answer before are looked at: its questions stand at its end. */
const MAX_ANSWER_CHARS = 4_000;
/** Words of thanks by themselves. */
const MAX_IDLE_WORDS = 12;
/** Words of a language that tell it where its little words don't. */
const LEAST_KNOWN = 2;
/** Where as many words are of two languages, it is the one of its little words. */
const TIE = 0.5;
const LANGUAGES: ReadonlyMap<LatinLanguage, string> = new Map([
  ["english", "en"],
  ["german", "de"],
  ["french", "fr"],
  ["spanish", "es"],
  ["italian", "it"],
]);
const CLAUSES = /[,;:()–—]/u;
const ENDS = /[.!?。！？؟\n]/u;
/** In any script. */
const QUESTION_MARKS = /[?？؟՞\u037e⸮፧]/u;
const LETTER = /\p{L}/u;
const LATIN = /\p{Script=Latin}/u;
/** "♿" tells something by itself. */
const PICTURE = /\p{Extended_Pictographic}/u;
const NO_LETTERS = /[^\p{L}\p{N}]+/u;
/** Text of others, or a pasted one, may stand behind such a sign. */
const QUOTING = /["“”„«»>`|\n]/u;

/**
 * Which messages need not be read at once: thanks and agreement, and questions, orders and wishes in which nothing speaks of what must
 * hold, of anybody's state, of a limit, or takes something back. Whatever is not known to be such a message is read at once: every
 * statement, and all that is said in a language of which the lists are not there. Made once for a domain.
 */
export class WaitingMessages {
  readonly #risks: readonly string[];
  /** By language, made with its first message: thousands of phrases each. */
  readonly #risksIn = new Map<string, Phrases>();
  readonly #idle: Phrases;
  readonly #talk: ReadonlyMap<string, Readonly<Record<"idle" | "persons" | "wishes" | "requests" | "offers", Phrases>>>;

  /** @param talk how the domain's guests tell of needs. Default: by its needs' words, as guests do everywhere */
  constructor(needs: readonly Need[], talk: NeedTalk = needTalkOf(needWordsOf(needs)), offRecord: readonly string[] = []) {
    this.#risks = risksOf(needs, talk, offRecord);
    const languages = [...SMALL_TALK];
    this.#idle = new Phrases(languages.flatMap(([, { idle }]) => idle));
    this.#talk = new Map(
      languages.map(([language, { idle, persons, wishes, requests, offers }]) => [
        language,
        {
          idle: new Phrases(idle),
          persons: new Phrases(persons),
          wishes: new Phrases(wishes),
          requests: new Phrases(requests),
          offers: new Phrases(offers),
        },
      ]),
    );
  }

  /** @param answer what the assistant said before it; null where it said nothing */
  mayWait(text: string, answer: string | null): boolean {
    if (text.length > MAX_CHARS || QUOTING.test(text) || broughtAlong(text).length > 0) return false;
    const asked = answer === null ? [] : questionsIn(answer);
    if (!asked.every((question) => this.#isOffer(question))) return false;
    if (this.#isIdle(text)) return true;
    const language = this.#languageOf(text);
    if (language === null || this.#mentions(text, language)) return false;
    const offered = new Set(asked.flatMap((question) => new Words(question).words));
    return sentencesOf(text).every((sentence) => this.#isRequest(sentence, language, offered));
  }

  #isIdle(text: string): boolean {
    const said = new Words(text);
    if (said.words.length > MAX_IDLE_WORDS) return false;
    const left = new Words(this.#idle.unspacedLeft(said));
    const idle = this.#idle.covered(left);
    return left.words.every((_, at) => idle.has(at)) && !PICTURE.test(left.text);
  }

  /** What the assistant may do: a yes to it tells nothing of the guest. */
  #isOffer(question: string): boolean {
    if (question.length > MAX_CHARS) return false;
    const language = this.#languageOf(question);
    if (language === null || this.#mentions(question, language)) return false;
    return this.#talk.get(language)?.offers.in(new Words(question)) === true;
  }

  /** @param offered words of the question that it answers, which tell nothing where they are said again */
  #isRequest(text: string, language: string, offered: ReadonlySet<string>): boolean {
    const talk = this.#talk.get(language);
    if (talk === undefined) return false;
    const sentence = new Words(text);
    const wished = talk.wishes.covered(sentence);
    if (talk.persons.places(sentence).some((at) => !wished.has(at))) return false;
    if (wished.size > 0) return true;
    const clauses = text.split(CLAUSES).map((clause) => new Words(clause));
    if (clauses.some((clause) => talk.requests.within(clause, 0, 1 + this.#idleBefore(clause)))) return true;
    const idle = this.#idle.covered(sentence);
    return sentence.words.every((word, at) => idle.has(at) || offered.has(word));
  }

  /** How many words of agreement or thanks it begins with. */
  #idleBefore(clause: Words): number {
    const idle = this.#idle.covered(clause);
    const first = clause.words.findIndex((_, at) => !idle.has(at));
    return first === -1 ? clause.words.length : first;
  }

  /** One whose small talk is known, and whose words the text uses most; null where there is none. */
  #languageOf(text: string): string | null {
    if ([...text].some((letter) => LETTER.test(letter) && !LATIN.test(letter))) return null;
    const words = folded(text).split(NO_LETTERS);
    const likely = likelyLanguagesOf(words);
    const leading = LANGUAGES.get(latinLanguageOf(words));
    if (likely.size > 0 && leading === undefined) return null;
    // Its little words tell several, or are too few: then those that it asks and thanks with do.
    const said = new Words(text);
    const known = [...LANGUAGES].flatMap(([latin, language]) => {
      if (likely.size > 0 && !likely.has(latin)) return [];
      const { idle, requests } = this.#talk.get(language) ?? {};
      const size = new Set([...(idle?.covered(said) ?? []), ...(requests?.covered(said) ?? [])]).size;
      return [{ language, size: size + (language === leading ? TIE : 0) }];
    });
    const best = known.reduce<(typeof known)[number] | null>((most, each) => (most === null || each.size > most.size ? each : most), null);
    return best !== null && (likely.size > 0 || best.size >= LEAST_KNOWN) ? best.language : null;
  }

  #mentions(text: string, language: string): boolean {
    const risks = this.#risksIn.get(language) ?? new Phrases(without(this.#risks, SMALL_TALK.get(language)?.plain ?? []));
    this.#risksIn.set(language, risks);
    return risks.mayBeIn(new Words(text));
  }
}

/** Words of needs and of how they are told, of limits, of what is taken back and of what is not to be kept. */
function risksOf(needs: readonly Need[], talk: NeedTalk, offRecord: readonly string[]): readonly string[] {
  const { harm, avoid, behind, not, over, supposed, brings, relations, words } = talk;
  return [
    ...[harm, avoid, behind, not, over, supposed, brings, offRecord, ...relations].flat(),
    ...words.flatMap((each) => each.words),
    ...needs.flatMap(({ words: own = [], spellings = [] }) => [...own, ...spellings]),
    ...[...SMALL_TALK.values()].flatMap(({ changes, limits }) => [...changes, ...limits]),
  ];
}

function without(phrases: readonly string[], others: readonly string[]): readonly string[] {
  const left = new Set(others.map(folded));
  return phrases.filter((phrase) => !left.has(folded(phrase)));
}

function questionsIn(answer: string): readonly string[] {
  const end = answer.slice(-MAX_ANSWER_CHARS);
  const questions: string[] = [];
  let start = 0;
  for (let at = 0; at < end.length; at++) {
    const mark = end[at] ?? "";
    if (QUESTION_MARKS.test(mark)) questions.push(end.slice(start, at));
    if (QUESTION_MARKS.test(mark) || ENDS.test(mark)) start = at + 1;
  }
  return questions;
}

function sentencesOf(text: string): readonly string[] {
  return text.split(ENDS).filter((sentence) => sentence.trim() !== "");
}
