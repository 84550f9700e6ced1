import { readableName } from "maitred/domain";
import { folded, wordsIn } from "maitred/stand-in";
import { type Clause, clausesOf, type Sentence } from "./clauses.js";
import type { FoundNeed, Vocabulary } from "./domain-words.js";
import type { Draft } from "./draft.js";
import { english, type Language, relationAt, UNKNOWN, wordsOf } from "./language.js";
import { isName, rawWords } from "./names.js";
import { namedIn } from "./needs.js";
import { saysOver } from "./over.js";
import { calledAs, capital, lower, told } from "./said.js";
import { type Companion, isPet, peopleIn, pronounWithin, subjectFor } from "./who.js";

/*
 * What must hold, told in other languages than English, of which less is known. The guest's own need holds where they say "I", or little
 * more than the need itself, and nobody else stands before it; all else is asked about, of whom it names.
 */

const SELF = "self";
const OTHER = "other";
/** "Bitte keine Nüsse", "alles ohne Gluten bitte": so few words, and in them nobody else. */
const MAX_BARE_WORDS = 5;
/** "Esse auch kein Fleisch in der Suppe" says what is not to be; a longer text is a sentence of the guest's. */
const MAX_OTHER_WORDS = 7;
/** "Con la", "com a": so many letters between "with" and a name. */
const MAX_ARTICLE_CHARS = 2;

/** Somebody else than the guest; `unknown`: of whom no more is said. */
type Third = Companion | "unknown";

interface Message {
  readonly sentences: readonly Sentence[];
  /** Those that tell of their needs that they are over, or that nobody has them. */
  readonly over: readonly Sentence[];
  readonly language: Language;
  readonly vocabulary: Vocabulary;
}

/** What of a message's drafts may be kept or asked about, in whatever form; not what is over. English ones stand as they are. */
export function readAbroad(drafts: readonly Draft[], message: Message): readonly Draft[] {
  const told: Draft[] = [];
  const isMoved = ({ need }: Draft) => drafts.some((other) => other.need === need && other.subject !== SELF);
  const isTold = ({ need, subject }: Draft) => subject !== SELF && told.some((other) => other.need === need && other.subject === subject);
  for (const draft of drafts) {
    const at = message.sentences.findLastIndex(({ start }) => start <= draft.clause.start);
    const sentence = message.sentences[at];
    const isOver = draft.hard && sentence !== undefined && message.over.includes(sentence);
    if (isOver) continue;
    if (!draft.hard || sentence === undefined || message.language.name === "en") told.push(draft);
    else {
      const read = new SentenceAbroad(sentence, message.sentences[at - 1], message).read(draft);
      // "Pilar es celíaca, así que el desayuno sin gluten" tells it twice.
      if (!isTold(read) && (read.subject === draft.subject || !isMoved(draft))) told.push(read);
    }
  }
  return told;
}

class SentenceAbroad {
  readonly #sentence: Sentence;
  readonly #language: Language;
  readonly #vocabulary: Vocabulary;
  readonly #words: readonly string[];
  readonly #clauses: readonly Clause[];
  /** The last clause of the sentence before. */
  readonly #before: readonly Clause[];
  /** "Meine Frau und ich", "io e mio figlio": who is named comes with the guest, and isn't told of. */
  readonly #isOfBoth: boolean;

  constructor(sentence: Sentence, before: Sentence | undefined, { language, vocabulary }: Message) {
    this.#sentence = sentence;
    this.#language = language;
    this.#vocabulary = vocabulary;
    this.#words = wordsOf(sentence.text, language);
    this.#clauses = clausesOf(sentence, language);
    this.#before = before === undefined ? [] : clausesOf(before, language).slice(-1);
    this.#isOfBoth = this.#words.some((_, at) => relationAt(this.#words, at) !== undefined && areBoth(this.#words, at, language));
  }

  read(draft: Draft): Draft {
    const whose = draft.subject === SELF ? this.#ofWhom(draft) : this.#ofCompanion(draft);
    const isRaw = draft.about !== "" && draft.text.startsWith(draft.about);
    // None of the domain's needs: somebody else's, and a sentence of the guest's, hold by their yes alone.
    const isSentence = isRaw || draft.subject !== SELF || wordsIn(draft.text).length > MAX_OTHER_WORDS;
    if (draft.need === OTHER) return isSentence ? { ...whose, unsure: true } : whose;
    const need = this.#needsIn(this.#words).find((each) => each.need === draft.need);
    // "En fauteuil depuis mon accident, il me faut une douche à l'italienne" tells more of the guest than its need.
    const tellsMore = this.#clauses.some((clause) => this.#saysI(clause.words) && this.#needsIn(clause.words).length === 0);
    return isRaw && whose.unsure && need !== undefined && !tellsMore ? this.#byName(whose, need) : whose;
  }

  /** The guest's own; or somebody else's who stands before it, of whom it is asked. */
  #ofWhom(draft: Draft): Draft {
    const [own, need] = this.#whereIn(draft);
    const until = need === undefined ? own.words.length : need.at;
    const upTo = { ...own, words: own.words.slice(0, until) };
    const isFirst = this.#saysI(own.words);
    // "Ich bin Veganerin wie meine Schwester".
    const inOwn = this.#thirdIn(this.#saysI(upTo.words) ? upTo : own);
    const earlier = this.#clauses.filter(({ start }) => start < own.start);
    const before = earlier.length > 0 || isFirst ? [] : this.#before;
    const beside = [...earlier, ...before].map((clause) => this.#thirdIn(clause));
    // Behind a sentence about somebody what tells of nobody stays the guest's: "Mein Sohn kommt mit. Keine Nüsse bitte."
    const isTheirs = earlier.length > 0 || inOwn !== null || this.#tells(own);
    const another = beside.findLast((third) => third !== null && third !== "unknown") ?? null;
    const moved = isTheirs ? another : null;
    const third = inOwn === "unknown" ? (moved ?? inOwn) : (inOwn ?? (isFirst ? null : moved));
    if (third !== null && third !== "unknown")
      return { ...draft, ...subjectFor(third), text: told(draft.text, third, this.#language), unsure: true };
    const isNamed = need !== undefined || draft.whole === true;
    const isKnown = this.#language.name !== UNKNOWN && isNamed;
    const isBare = isKnown && until < MAX_BARE_WORDS && !this.#tells(own) && beside.every((each) => each === null);
    const isOwn = isFirst || isBare || this.#isReasoned();
    return { ...draft, unsure: draft.unsure || third !== null || !isOwn || this.#mayBeOver(own, need) };
  }

  /** "Den Rollstuhl brauche ich nicht mehr", but not "soy sorda y ya no uso teléfono". */
  #mayBeOver({ words }: Clause, need: FoundNeed | undefined): boolean {
    const behind = words.slice(need === undefined ? 0 : need.at + need.length);
    const joined = need === undefined ? -1 : behind.findIndex((word) => this.#language.joins.has(word));
    return saysOver(joined === -1 ? words : words.slice(0, words.length - behind.length + joined));
  }

  /** "Bitte ohne Nüsse, ich bin allergisch", of nobody else. */
  #isReasoned(): boolean {
    const isMine = ({ words }: Clause) =>
      words.some((word) => this.#language.first.has(word)) && (this.#language.avoid.in(words) !== -1 || this.#needsIn(words).length > 0);
    return this.#clauses.every((clause) => this.#thirdIn(clause) === null) && this.#clauses.some(isMine);
  }

  /** "Voy con mi suegra, sin nueces": behind what the guest says of both it may be either's. */
  #ofCompanion(draft: Draft): Draft {
    const [own] = this.#whereIn(draft);
    const saysBoth = ({ start, words }: Clause) => start < own.start && words.some((word) => this.#language.first.has(word));
    const isBare = this.#thirdIn(own) === null && !this.#tells(own);
    return isBare && this.#clauses.some(saysBoth) ? { ...draft, unsure: true } : draft;
  }

  /** The clause in which a draft's need stands, and the need there; where it has no word there, what the guest says of themselves. */
  #whereIn({ clause, need }: Draft): readonly [Clause, FoundNeed | undefined] {
    const inside = this.#clauses.filter(({ start }) => start >= clause.start && start < clause.start + clause.text.length);
    for (const each of inside) {
      const found = this.#needsIn(each.words).find((other) => other.need === need);
      if (found !== undefined) return [each, found];
    }
    return [inside.find(({ words }) => this.#saysI(words)) ?? inside[0] ?? clause, undefined];
  }

  /** Who else than the guest is spoken of. Null: nobody. */
  #thirdIn(clause: Clause): Third | null {
    const { words, text } = clause;
    const raw = rawWords(text);
    const [person] = this.#isOfBoth ? [] : peopleIn(clause, this.#language);
    if (person !== undefined) return person;
    const relations = words.map((_, at) => relationAt(words, at)?.relation).filter((each) => each !== undefined && !isPet(each));
    const friend = words.findIndex((word, at) => english.bystanders.has(word) && this.#language.mine.has(words[at - 1]));
    const name = raw.slice(0, words.length).findIndex((_, at) => this.#isSomebody(words, raw, at));
    const called = this.#isOfBoth ? raw[name] : (relations[0] ?? raw[friend] ?? raw[name]);
    if (called !== undefined) return { kind: "companion", relation: called, name: null };
    return pronounWithin(clause, this.#language).length > 0 ? "unknown" : null;
  }

  /** "Pilar es …", "con Rita"; of German nouns, which are written as names are, only whom something is told of. */
  #isSomebody(words: readonly string[], raw: readonly string[], at: number): boolean {
    const { name, first, for: withWhom } = this.#language;
    const isNeed = this.#needsIn(words).some((need) => at >= need.at && at < need.at + need.length);
    // A capital letter at the beginning is no name's: "Quant à moi je suis".
    if (!isName(raw[at] ?? "") || isNeed || first.has(words[at]) || (at === 0 && first.in(words) !== -1)) return false;
    const isArticle = (words[at - 1]?.length ?? 0) <= MAX_ARTICLE_CHARS;
    const isWithWhom = withWhom.has(words[at - 1]) || (isArticle && withWhom.has(words[at - 2]));
    return this.#tellsAt(words, raw, at + 1) || (name !== "de" && isWithWhom);
  }

  /** Something is told of somebody, who need not be named: "è celiaca". */
  #tells({ text, words }: Clause): boolean {
    const raw = rawWords(text);
    return words.some((word, at) => !this.#language.first.has(word) && this.#tellsAt(words, raw, at));
  }

  /** Without its accent "è" is "and". */
  #tellsAt(words: readonly string[], raw: readonly string[], at: number): boolean {
    const { tells, not, joins } = this.#language;
    const word = words[at] ?? "";
    return tells.has(word) && !not.has(word) && (!joins.has(word) || raw[at]?.toLowerCase() !== word);
  }

  #saysI(words: readonly string[]): boolean {
    return words.some((word) => this.#language.first.has(word) || this.#language.mine.has(word));
  }

  #needsIn(words: readonly string[]): readonly FoundNeed[] {
    return namedIn(words, this.#language, this.#vocabulary);
  }

  /** "No nuts (Nüsse)", "Husband: hearing loop (Hörgeräte)": the need by its name, with the guest's word for it. */
  #byName(draft: Draft, { need, at, length }: FoundNeed): Draft {
    const raw = rawWords(this.#sentence.text);
    const about = (raw.length === this.#words.length ? raw : this.#words).slice(at, at + length).join(" ");
    const named = readableName(need);
    const text = folded(named).includes(folded(about)) ? named : `${named} (${about})`;
    const { subject, name } = draft;
    if (subject === SELF) return { ...draft, about, text };
    const whose = calledAs({ kind: "companion", relation: subject.replace(/^companion:/u, ""), name });
    return { ...draft, about, text: `${capital(whose)}: ${lower(text)}` };
  }
}

/** The guest and whoever stands there. */
function areBoth(words: readonly string[], at: number, { joins, first, mine }: Language): boolean {
  const isMe = (word: string | undefined) => first.has(word) && !mine.has(word);
  const behind = words.slice(at + 1, at + 4);
  return (
    behind.some((word, place) => joins.has(word) && isMe(behind[place + 1])) ||
    [at - 2, at - 3].some((place) => joins.has(words[place]) && isMe(words[place - 1]))
  );
}
