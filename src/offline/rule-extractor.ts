import type { ExtractionInput, Extractor, Memory, ProposedOperation, Statement } from "../long-term.js";
import { statementSchema } from "../long-term.js";
import { datesIn } from "../platform/language/mentioned-dates.js";
import { FOREIGN, maskForeignWords, type Sentence, sentencesOf } from "../platform/language/own-words.js";
import { AVOIDANCES } from "./rules/avoidances.js";
import { CIRCUMSTANCES } from "./rules/circumstances.js";
import type { Draft, PlainClause, Shape } from "./rules/draft.js";
import { endedBy } from "./rules/endings.js";
import { HABITS } from "./rules/habits.js";
import { IMPAIRMENTS } from "./rules/impairments.js";
import { isIronic } from "./rules/irony.js";
import { type Language, languageOf } from "./rules/language.js";
import { LODGING } from "./rules/lodging.js";
import { MEMBERSHIPS } from "./rules/memberships.js";
import { NEEDS } from "./rules/needs.js";
import { OTHER_LANGUAGES, plainForeign } from "./rules/other-languages.js";
import { meantBy, type Person, peopleIn } from "./rules/people.js";
import { clausesOf, plainClause, withoutTail } from "./rules/plain-clauses.js";
import { SPENDING } from "./rules/spending.js";
import { STANCES } from "./rules/stances.js";
import { type AboutWhom, aboutWhom, forWhom, goesOn, type KnownNames, pronounIn, withPerson } from "./rules/subjects.js";
import { TASTES } from "./rules/tastes.js";
import { thingNamed, withThing } from "./rules/things-named.js";

const ENGLISH: readonly Shape[] = [
  ...NEEDS,
  ...AVOIDANCES,
  ...IMPAIRMENTS,
  ...LODGING,
  ...HABITS,
  ...SPENDING,
  ...MEMBERSHIPS,
  ...CIRCUMSTANCES,
  ...TASTES,
  ...STANCES,
];
const TRIP =
  /[\s,]*(?<!\p{L})(?:(?:just |only )?(?:for |on |during )?(?:this (?:time|trip|visit|once|occasion|evening's booking)|today only|just once)|(?:just )?this once|for once|diesmal|dieses mal|für (?:dieses mal|diese reise)|cette fois(?:-ci)?|pour cette fois|esta vez|por esta vez|(?:per )?questa volta)(?!\p{L})[\s,]*/iu;
const UNTIL =
  /[\s,]*(?<!\p{L})(?:until|till|til|through|up to|on|from|for|by|bis|jusqu'à|jusqu'au|hasta|fino a|am|le|el|il)?\s*(?:the )?$/iu;
/** "Just for tonight I'd like …": for once a wish that is told apart from what usually holds. */
const ONLY_THEN = /^(?:only|just) (?:for )?\s*(?=i\b|i'd\b|we\b|we'd\b)/iu;
const MAX_SENTENCES = 60;
const MAX_SENTENCE_CHARS = 600;

/** What is known while a message is read. */
interface Reading {
  readonly input: ExtractionInput;
  readonly names: KnownNames;
  /** Who was named so far, in the message or, where nobody was, in the one before it. */
  readonly people: Person[];
  /** Where the sentence begins in which the last person was named. */
  namedAt: number;
  /** Somebody is said to come along. */
  readonly joining: boolean;
}

const JOINING = /\b(?:joins?|joining|join|coming|comes?|accompan\p{L}+)\b.{0,30}\b(?:us|me|along|too|with)\b/iu;

/**
 * The stand-in extractor: a table of clause shapes, no model. English, and the everyday of German, French, Spanish and Italian.
 * It knows what it knows: a sentence that fits no shape says nothing to it. Requests, questions and what others say have no
 * shape; the guards (long-term/promotable.ts) pass its output like any other's. Only explicit statements, confidence 0.9.
 */
export class RuleExtractor implements Extractor {
  readonly name = "rules";

  async extract(input: ExtractionInput): Promise<readonly ProposedOperation[]> {
    let proposals: ProposedOperation[] = [];
    const sentences = sentencesOf(maskForeignWords(input.text)).slice(0, MAX_SENTENCES);
    const reading: Reading = { input, names: namesIn(input.related), people: [], namedAt: 0, joining: JOINING.test(input.text) };
    for (const [at, sentence] of sentences.entries()) {
      if (sentence.text.includes(FOREIGN) || sentence.text.length > MAX_SENTENCE_CHARS) continue;
      if (isIronic(sentence.text, sentences[at + 1]?.text ?? "")) continue;
      proposals = withoutRepeats([...proposals, ...this.#inSentence(sentence, reading)]);
    }
    return withoutNeedlessEnds(proposals, input.related);
  }

  #inSentence(sentence: Sentence, reading: Reading): ProposedOperation[] {
    const { input } = reading;
    const language = languageOf(sentence.text);
    const said = { at: input.stated_at, timeZone: input.time_zone };
    const proposals: ProposedOperation[] = [];
    let end = sentence.start;
    let before: string | null = null;
    let thing: string | null = null;
    for (const clause of clausesOf(sentence, language)) {
      const reasoned = /\bso\b/iu.test(sentence.text.slice(end - sentence.start, clause.start - sentence.start));
      end = clause.end;
      const whole: string = language === "en" ? completed(clause.text, before, reading) : goesOnAbroad(clause.text, before);
      before = subjectOf(whole, language) ?? before;
      const named = language === "en" ? peopleIn(clause.text.replace(/[’‘]/gu, "'")) : [];
      if (named.length > 0) reading.namedAt = sentence.start;
      reading.people.push(...named);
      const resolved = thing === null ? whole : withThing(whole, thing);
      thing = thingNamed(clause.text) ?? thing;
      const from = pronounIn(clause.text) !== null && reading.people.length > 0 ? reading.namedAt : sentence.start;
      const quote = resolved === clause.text ? clause.text : input.text.slice(from, sentence.end);

      let text = resolved;
      const trip = TRIP.exec(text);
      if (trip !== null) text = text.replace(trip[0], " ").trim();
      const date = datesIn(text, said, language).at(-1);
      const dated = date !== undefined && !/\b(?:birthday|anniversary|geburtstag)\b/iu.test(text);
      const undated = dated ? withoutDate(text, date.text).replace(/\s+(?:only|alone)(?=[.!]*$)/iu, "") : text;
      const passing = trip !== null || dated;
      const standing = passing
        ? undated.replace(ONLY_THEN, "").replace(ONLY_THEN.test(undated) ? /\bI'd like\b/u : /(?!)/u, "I'd rather have")
        : undated;
      const companion = forWhom(standing);
      const subjects =
        companion === null ? (language === "en" ? aboutWhom(standing, reading.names, reading.joining) : [self(standing)]) : [companion];
      const draftsFor = (about: AboutWhom, isPassing: boolean) =>
        this.#draftsOf(about, isPassing || companion !== null, language, standing, reasoned);

      const over = endedBy(resolved, language, input.related, reading.names, (about) => draftsFor(about, false));
      if (over !== null) {
        proposals.push(...over.map((id): ProposedOperation => ({ op: "supersede", quote, target_id: id, statement: null })));
        continue;
      }
      for (const about of subjects) {
        const drafts = draftsFor(about, passing);
        // "My knees are bad, so I need a lift": the need stands, its reason is no second one.
        if (reasoned) dropReasons(proposals, about.subject, drafts);
        for (const draft of drafts) {
          if (about.subject === "companion:friend" && draft.strength !== "hard") continue;
          // Where a companion lives is no place of the guest's.
          if (about.subject !== "self" && draft.category === "location") continue;
          const statement = statementOf(draft, about, passing, dated ? date.end : null);
          proposals.push(...this.#operations(draft, statement, quote, input));
        }
      }
    }
    return proposals;
  }

  #draftsOf(about: AboutWhom, passing: boolean, language: Language, whole: string, reasoned: boolean): readonly Draft[] {
    if (language !== "en") {
      const plain = plainForeign(about.clause, passing);
      for (const shape of OTHER_LANGUAGES[language]) {
        const drafts = shape(plain);
        if (drafts.length > 0) return drafts;
      }
      return [];
    }
    const plain = plainClause(about.clause, passing, reasoned);
    const short = withoutTail(plain);
    const own = whole === about.clause ? null : plainClause(whole, passing, reasoned);
    for (const clause of short === null ? [plain] : [plain, short]) {
      const drafts = firstOf(clause, own);
      if (drafts.length > 0) return drafts;
    }
    return [];
  }

  /** What it replaces, where that is stored; else a plain statement. The first one found is superseded, the rest follows by aspect. */
  #operations(draft: Draft, statement: Statement, quote: string, input: ExtractionInput): ProposedOperation[] {
    if (statement.scope === "standing") {
      const soft = input.related.filter(
        (memory) =>
          memory.status === "active" &&
          memory.strength === "soft" &&
          memory.subject === statement.subject &&
          memory.category === draft.category,
      );
      const said = soft.find((memory) => memory.aspect === draft.aspect && saysTheSame(memory, statement));
      if (said !== undefined) return [{ op: "confirm", quote, target_id: said.id }];
      const replaced = soft.find((memory) => memory.aspect !== draft.aspect && (draft.replaces ?? []).includes(memory.aspect));
      if (replaced !== undefined) return [{ op: "supersede", quote, target_id: replaced.id, statement }];
    }
    return [{ op: "add", quote, statement }];
  }
}

/** The drafts of the first shape that reads the clause. "My sister often comes along" is about whom the guest comes with: `own` is read for that. */
function firstOf(clause: PlainClause, own: PlainClause | null): readonly Draft[] {
  for (const shape of ENGLISH) {
    const drafts = shape(clause);
    if (drafts.length > 0) return drafts;
    const ownDrafts = own === null ? [] : shape(own).filter((draft) => OF_THE_GUEST.has(draft.category));
    if (ownDrafts.length > 0) return ownDrafts.map((draft) => ({ ...draft, subject: "self" }));
  }
  return [];
}
const OF_THE_GUEST: ReadonlySet<string> = new Set(["companions", "other"]);

function self(clause: string): AboutWhom {
  return { subject: "self", clause, name: null, label: "" };
}

/** Names of companions that are stored, in lower case. */
function namesIn(related: readonly Memory[]): KnownNames {
  const names = new Map<string, string>();
  for (const { subject, entities } of related) {
    if (!subject.startsWith("companion:")) continue;
    for (const name of [subject.slice("companion:".length), ...entities]) names.set(name.toLowerCase(), subject);
  }
  return names;
}

/** The clause with a subject where it goes on about somebody: "she's deaf", "and loves opera". */
function completed(clause: string, before: string | null, reading: Reading): string {
  const pronoun = pronounIn(clause);
  if (pronoun === null) return goesOn(clause, before) ?? clause;
  const named =
    reading.people.length > 0 ? reading.people : peopleIn(reading.input.context.findLast(({ role }) => role === "user")?.content ?? "");
  const person = meantBy(pronoun, named);
  return person === null ? clause : withPerson(clause, person);
}

function goesOnAbroad(clause: string, before: string | null): string {
  return before === "ich" &&
    /^(?:sitze|esse|trinke|mag|liebe|hasse|brauche|habe|bin|kann|nehme|allergisch|wohne|vertrage)(?!\p{L})/iu.test(clause)
    ? `ich ${/^allergisch/iu.test(clause) ? "bin " : ""}${clause}`
    : clause;
}

/** Whom the next clause is about where it doesn't say. */
function subjectOf(clause: string, language: Language): string | null {
  const plain = clause.replace(/[’‘]/gu, "'").replace(/^(?:and|but|so|hallo|guten tag|hi|hello|also)[\s,]+/iu, "");
  if (language !== "en") return /^ich\s/iu.test(plain) ? "ich" : null;
  if (/^(?:i|we|im)(?:'m|'ve|'d|'re)?\s/iu.test(plain)) return "I";
  const [first, ...more] = aboutWhom(clause);
  const [person] = peopleIn(plain);
  return more.length === 0 && first !== undefined && first.subject !== "self" && person?.subject != null ? person.phrase : null;
}

function statementOf(draft: Draft, about: AboutWhom, passing: boolean, until: Date | null): Statement {
  const who = draft.subject ?? about.subject;
  const label = about.label === "" ? who.slice("companion:".length) : about.label;
  return statementSchema.parse({
    text:
      who === "self"
        ? told(draft.text)
        : said(
            label.replace(/^./u, (letter) => letter.toUpperCase()),
            told(draft.text),
          ),
    category: draft.category,
    aspect: draft.aspect.slice(0, 64),
    type: draft.type ?? "preference",
    strength: draft.strength ?? "soft",
    subject: who,
    scope: passing ? "trip" : "standing",
    valid_until: until?.toISOString() ?? null,
    confidence: 0.9,
    explicit: true,
    // The companion's name, by which they may be called when they come along.
    entities: [...new Set([...(draft.entities ?? []), ...(about.name === null ? [] : [about.name])])],
    tags: [],
  });
}

/** "Likes their room cool". */
function told(text: string): string {
  return text.replace(/(?<= )(?:my|our)(?= )/giu, "their");
}

/** "Wife is vegan", "Daughters are vegan". */
function said(label: string, text: string): string {
  const lower = text.replace(/^./u, (letter) => letter.toLowerCase());
  const plural = /(?:[^s]s|children)$/iu.test(label) && !/^(?:james|chris|thomas|nicolas|jonas|lucas|andreas|carlos)$/iu.test(label);
  if (!plural) return `${label} ${lower}`;
  const verb = lower
    .replace(/^is\b/u, "are")
    .replace(/^has\b/u, "have")
    .replace(/^does\b/u, "do");
  return `${label} ${verb === lower ? lower.replace(/^(\p{L}+[^s\s])s\b/u, "$1") : verb}`;
}

/** "Likes rock" and "Likes rock music": one word of liking, one aspect, nothing that is weighed against another. */
function saysTheSame(memory: Memory, statement: Statement): boolean {
  const verb = (text: string) =>
    /^(?:companion )?(?<verb>likes|loves|dislikes|prefers|enjoys|avoids|is a fan of)\b/iu.exec(text)?.groups?.verb?.toLowerCase();
  if (!OPEN_TASTES.has(statement.category) || / over /u.test(memory.text) || / over /u.test(statement.text)) return false;
  return verb(statement.text) !== undefined && verb(memory.text) === verb(statement.text);
}
const OPEN_TASTES: ReadonlySet<string> = new Set(["genre", "artist", "venue"]);

/** The last statement was the reason for what follows it, where both are of one kind and one person's: "my mother uses a wheelchair" stays hers. */
function dropReasons(proposals: ProposedOperation[], subject: string, needs: readonly Draft[]): void {
  const last = proposals.at(-1);
  if (last?.op !== "add" || last.statement.subject !== subject || !needs.some((draft) => draft.category === last.statement.category))
    return;
  if (last.statement.strength === "hard" || last.statement.category === "schedule") proposals.pop();
}

/** One statement for each (subject, category, aspect) of a message: the need that was named first, the wish that was named last. */
function withoutRepeats(proposals: readonly ProposedOperation[]): ProposedOperation[] {
  const kept = new Map<string, ProposedOperation>();
  for (const proposal of proposals) {
    if (!("statement" in proposal) || proposal.statement === null) {
      if ("target_id" in proposal) kept.set(proposal.target_id, proposal);
      continue;
    }
    const { subject, category, aspect, strength } = proposal.statement;
    const key = `${subject}|${category}|${aspect}`;
    if (!kept.has(key) || strength === "soft") kept.set(key, proposal);
  }
  return [...kept.values()];
}

/** "I'm not vegetarian, I'm vegan": what takes the place of a memory ends it, with its successor named. */
function withoutNeedlessEnds(proposals: readonly ProposedOperation[], related: readonly Memory[]): ProposedOperation[] {
  const slots = new Set(
    proposals.flatMap((proposal) =>
      proposal.op === "add" ? [`${proposal.statement.subject}|${proposal.statement.category}|${proposal.statement.aspect}`] : [],
    ),
  );
  return proposals.filter((proposal) => {
    if (proposal.op !== "supersede" || proposal.statement !== null) return true;
    const target = related.find(({ id }) => id === proposal.target_id);
    return target === undefined || !slots.has(`${target.subject}|${target.category}|${target.aspect}`);
  });
}

function withoutDate(text: string, date: string): string {
  const at = text.indexOf(date);
  if (at === -1) return text;
  return `${text.slice(0, at).replace(UNTIL, "")} ${text.slice(at + date.length)}`.replace(/\s+/gu, " ").trim();
}
