import type { ExtractionInput, Extractor, Memory, ProposedOperation, Statement } from "../long-term.js";
import { statementSchema } from "../long-term.js";
import { datesIn } from "../platform/language/mentioned-dates.js";
import { FOREIGN, maskForeignWords, type Sentence, sentencesOf } from "../platform/language/own-words.js";
import { CIRCUMSTANCES } from "./rules/circumstances.js";
import type { Draft, PlainClause, Shape } from "./rules/draft.js";
import { whatIsOver } from "./rules/endings.js";
import { HABITS } from "./rules/habits.js";
import { type Language, languageOf } from "./rules/language.js";
import { NEEDS } from "./rules/needs.js";
import { OTHER_LANGUAGES } from "./rules/other-languages.js";
import { clausesOf, plainClause } from "./rules/plain-clauses.js";
import { type AboutWhom, aboutWhom, forWhom, personIn, withSubject } from "./rules/subjects.js";
import { TASTES } from "./rules/tastes.js";

const ENGLISH: readonly Shape[] = [...NEEDS, ...HABITS, ...CIRCUMSTANCES, ...TASTES];
/** A taste that is over is a statement of its own ("No longer likes opera"): it tells what not to suggest. */
const TASTE_CATEGORIES: ReadonlySet<string> = new Set(["genre", "artist", "venue"]);
const TRIP =
  /[\s,]*(?<!\p{L})(?:(?:just |only )?(?:for |on |during )?(?:this (?:time|trip|visit|once|occasion|evening's booking)|today only|just once)|(?:just )?this once|for once|diesmal|dieses mal|für (?:dieses mal|diese reise)|cette fois(?:-ci)?|pour cette fois|esta vez|por esta vez|(?:per )?questa volta)(?!\p{L})[\s,]*/iu;
const UNTIL =
  /[\s,]*(?<!\p{L})(?:until|till|til|through|up to|on|from|for|by|bis|jusqu'à|jusqu'au|hasta|fino a|am|le|el|il)?\s*(?:the )?$/iu;
const MAX_SENTENCES = 60;
const MAX_SENTENCE_CHARS = 600;

/**
 * The stand-in extractor: a table of clause shapes, no model. English, and the everyday of German, French, Spanish and Italian.
 * It knows what it knows: a sentence that fits no shape says nothing to it. Requests, questions and what others say have no
 * shape; the guards (long-term/promotable.ts) pass its output like any other's. Only explicit statements, confidence 0.9.
 */
export class RuleExtractor implements Extractor {
  readonly name = "rules";

  async extract(input: ExtractionInput): Promise<readonly ProposedOperation[]> {
    let proposals: ProposedOperation[] = [];
    const masked = maskForeignWords(input.text);
    for (const sentence of sentencesOf(masked).slice(0, MAX_SENTENCES)) {
      if (sentence.text.includes(FOREIGN) || sentence.text.length > MAX_SENTENCE_CHARS) continue;
      proposals = withoutRepeats([...proposals, ...this.#inSentence(sentence, input)]);
    }
    return proposals;
  }

  #inSentence(sentence: Sentence, input: ExtractionInput): ProposedOperation[] {
    const language = languageOf(sentence.text);
    const said = { at: input.stated_at, timeZone: input.time_zone };
    const proposals: ProposedOperation[] = [];
    let before = sentence.start;
    let person: string | null = null;
    for (const clause of clausesOf(sentence)) {
      const follows = /\bso\b/iu.test(sentence.text.slice(before - sentence.start, clause.start - sentence.start));
      before = clause.end;
      const inherited = language === "en" ? withSubject(clause.text, person) : null;
      person = personIn(clause.text) ?? person;
      let text = inherited ?? clause.text;
      const trip = TRIP.exec(text);
      if (trip !== null) text = text.replace(trip[0], " ").trim();
      const date = datesIn(text, said, language).at(-1);
      const dated = date !== undefined && !/\b(?:birthday|anniversary|geburtstag)\b/iu.test(text);
      const undated = dated ? withoutDate(text, date.text).replace(/\s+(?:only|alone)(?=[.!]*$)/iu, "") : text;
      const companion = forWhom(undated);
      const about = companion ?? aboutWhom(undated);
      const passing = trip !== null || dated;
      const over = this.#ended(clause.text, language, input);
      if (over !== null) {
        proposals.push(...over);
        continue;
      }
      const drafts = this.#draftsOf(about.clause, passing || companion !== null, language, undated);
      // "My knees are bad, so I need a lift": the need stands, its reason is no second one.
      if (follows) dropReasons(proposals, drafts);
      for (const draft of drafts) {
        const statement = statementOf(draft, about, passing, dated ? date.end : null);
        proposals.push(...this.#operations(draft, statement, inherited === null ? clause.text : sentence.text, input));
      }
    }
    return proposals;
  }

  /** Ends the stored memories that the clause says are over; null where it speaks of no need, habit or circumstance that is. */
  #ended(clause: string, language: Language, input: ExtractionInput): ProposedOperation[] | null {
    const stillHolding = whatIsOver(clause, language);
    if (stillHolding === null) return null;
    const about = aboutWhom(stillHolding);
    const drafts = this.#draftsOf(about.clause, false, language, stillHolding).filter(({ category }) => !TASTE_CATEGORIES.has(category));
    const ended = drafts.flatMap((draft) =>
      input.related.filter((memory) => memory.status === "active" && memory.subject === about.subject && isSameNeed(memory, draft)),
    );
    if (drafts.length === 0) return null;
    return ended.map((memory) => ({ op: "supersede", quote: clause, target_id: memory.id, statement: null }));
  }

  #draftsOf(clause: string, passing: boolean, language: Language, whole: string): readonly Draft[] {
    const plain: PlainClause =
      language === "en"
        ? plainClause(clause, passing)
        : {
            text: clause
              .replace(/[’‘]/gu, "'")
              .replace(/[\s.!?,;¡¿]+$/u, "")
              .trim(),
            usual: false,
            changed: false,
            passing,
          };
    const asCompanion = plainClause(whole, passing);
    for (const shape of language === "en" ? ENGLISH : OTHER_LANGUAGES[language]) {
      const drafts = shape(plain);
      if (drafts.length > 0) return drafts;
      // "My sister often comes along" is about whom the guest comes with.
      if (language === "en" && whole !== clause) {
        const own = shape(asCompanion).filter((draft) => draft.category === "companions" || draft.category === "other");
        if (own.length > 0) return own.map((draft) => ({ ...draft, subject: "self" }));
      }
    }
    return [];
  }

  /** What it replaces, where that is stored; else a plain statement. The first one found is superseded, the rest follows by aspect. */
  #operations(draft: Draft, statement: Statement, quote: string, input: ExtractionInput): ProposedOperation[] {
    const replaced = input.related.find(
      (memory) =>
        memory.status === "active" &&
        memory.strength === "soft" &&
        memory.subject === statement.subject &&
        memory.category === draft.category &&
        memory.aspect !== draft.aspect &&
        (draft.replaces ?? []).includes(memory.aspect),
    );
    if (replaced !== undefined && statement.scope === "standing") return [{ op: "supersede", quote, target_id: replaced.id, statement }];
    return [{ op: "add", quote, statement }];
  }
}

function statementOf(draft: Draft, about: AboutWhom, passing: boolean, until: Date | null): Statement {
  const who = draft.subject ?? about.subject;
  return statementSchema.parse({
    text:
      who === "self"
        ? draft.text
        : `${who.slice("companion:".length).replace(/^./u, (letter) => letter.toUpperCase())} ${draft.text.replace(/^./u, (letter) => letter.toLowerCase())}`,
    category: draft.category,
    aspect: draft.aspect,
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

/** A diet is one aspect for all diets: there the words tell which. */
function isSameNeed(memory: Memory, draft: Draft): boolean {
  if (memory.category !== draft.category) return false;
  if (memory.text.toLowerCase().endsWith(draft.text.toLowerCase())) return true;
  return memory.aspect === draft.aspect && !/diet$/u.test(draft.aspect);
}

function dropReasons(proposals: ProposedOperation[], needs: readonly Draft[]): void {
  const last = proposals.at(-1);
  if (last?.op === "add" && last.statement.strength === "hard" && needs.some((draft) => draft.category === last.statement.category))
    proposals.pop();
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

function withoutDate(text: string, date: string): string {
  const at = text.indexOf(date);
  if (at === -1) return text;
  return `${text.slice(0, at).replace(UNTIL, "")} ${text.slice(at + date.length)}`.replace(/\s+/gu, " ").trim();
}
