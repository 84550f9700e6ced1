import type { Memory, MessageToRead, ProposedOperation } from "maitred";
import { folded, proposedOperationSchema, wordsIn } from "maitred/stand-in";
import { commandsOf } from "../memory-commands.js";
import { alike } from "./alike.js";
import { clausesOf, type Sentence, sentencesOf } from "./clauses.js";
import type { Dates } from "./dates.js";
import type { Vocabulary } from "./domain-words.js";
import type { Draft } from "./draft.js";
import { endingOf, isDenial, isDeniedAlone, isSaidOfGuest } from "./endings.js";
import { anyLanguage, english, type Language, relationOf, saysLiking } from "./language.js";
import { recoveredIn } from "./recoveries.js";

/** What a message does to what is known: forgets, ends, corrects, says again. */
export interface Changes {
  readonly off_record: "this" | "previous" | null;
  /** Ends and forgettings, with the words that ask for them. */
  readonly asked: readonly Asked[];
  /** "Forget what you know about my mum". */
  readonly allAbout: readonly AllAbout[];
  /** "Actually, …": what is said replaces what it is about. */
  readonly corrects: boolean;
  /** Whether a sentence is a command about memory, and so tells nothing. */
  covers(sentence: Sentence): boolean;
}

interface Asked {
  readonly op: "forget" | "end";
  readonly target: Memory;
  readonly quote: string;
  /** Said in the memory's own words: "I'm no longer allergic to nuts", not "no more nuts, please". */
  readonly plain: boolean;
}

interface AllAbout {
  readonly whom: string;
  readonly what: string;
  readonly quote: string;
}

/** What must hold and is none of the domain's needs: one is not the next. */
const OTHER = "other";

/** A wish not to keep something has one of these. */
const NOT_KEPT = new Set(["mentioned", "don't", "dont", "didn't", "not", "needn't", "no"]);
/** A word of a memory in common with what is to be forgotten; short ones tell nothing. */
const TELLING = 4;

/** A sentence with fewer characters beside a command tells nothing else. */
const BESIDE_CHARS = 10;

type Said = Pick<MessageToRead, "known" | "session_id" | "turn">;

export function changesOf(text: string, said: Said, language: Language, vocabulary: Vocabulary): Changes {
  const { known } = said;
  const commands = commandsOf(text);
  const asked: Asked[] = [];
  const allAbout: AllAbout[] = [];
  for (const { command, start, end } of commands)
    if (command.kind === "forget" && command.whom !== undefined)
      allAbout.push({ ...command, whom: command.whom, quote: text.slice(start, end) });
    else if (command.kind === "forget") {
      const targets = known.filter((memory) => isNamed(memory, command.what));
      // Where several could be meant, the guest is asked which.
      for (const target of targets.length === 1 ? targets : [])
        asked.push({ op: "forget", target, quote: text.slice(start, end), plain: true });
      // "Forget I mentioned money", "don't keep the medical part": what was said a moment ago, in other words.
      if (targets.length !== 1 && wordsIn(text.slice(start, end)).some((word) => NOT_KEPT.has(word)))
        for (const target of saidBefore(said)) asked.push({ op: "end", target, quote: text.slice(start, end), plain: false });
    }
  const keepsOut = commands.some(({ command }) => command.kind === "do_not_remember");
  const unmeant = anyLanguage("laugh", wordsIn(text)) || english.unmeant.in(wordsIn(text)) !== -1;
  for (const sentence of sentencesOf(text, (word) => english.titles.has(word))) {
    const { text: line, asks } = sentence;
    const words = wordsIn(line);
    if (words.includes("if")) continue;
    const end = (target: Memory, plain = false) => {
      if (!asked.some((each) => each.target === target)) asked.push({ op: "end", target, quote: line.replace(/[.!]+$/u, ""), plain });
    };
    const ends = endingsIn(known, sentence, words, language);
    for (const { target, plain } of ends) end(target, plain && !unmeant);
    if (asks) continue;
    const over = recoveredIn(clausesOf(sentence, language), language, vocabulary);
    // "My wife's knee is fine now".
    const whose = words.map((word) => word.replace(/'s$/u, ""));
    for (const target of over.size === 0 ? [] : thoseOf(known, whose, language))
      if (over.has(target.need ?? "") && (target.need !== OTHER || isAbout(target, words))) end(target);
    const homes = known.filter(({ category, aspect, subject }) => category === "location" && aspect === "home" && subject === "self");
    if (movesHome(words)) for (const home of homes) end(home);
    const lived = english.lived.in(words);
    if (lived !== -1 && isSaidOfGuest(words, lived)) for (const home of homes) if (isNamed(home, line)) end(home);
    if (english.parted.in(words) !== -1) for (const target of known) if (isOfParted(target, words)) end(target);
    // "You can forget the peanuts" may be about the order: the guest is asked. "Forget the budget" ends that number.
    if (english.drops.in(words) === -1) continue;
    const named = vocabulary.categoryOf(words);
    const isMeant = ({ strength, category, text }: Memory) => strength === "soft" && category === named && /\d/u.test(text);
    for (const memory of known) if (isMeant(memory) || (memory.strength === "hard" && isAbout(memory, words))) end(memory);
  }
  return {
    off_record: keepsOut ? (saysNothingElse(text, commands, language) ? "previous" : "this") : null,
    asked,
    allAbout,
    corrects: english.change.in(wordsIn(text)) !== -1,
    covers: (sentence) =>
      commands.some(({ command, start, end }) => {
        if (command.kind === "remember" || start >= sentence.start + sentence.text.length || end <= sentence.start) return false;
        // "I'm allergic to nuts, but don't keep that" tells of an allergy, about which the guest is asked.
        return command.kind !== "do_not_remember" || sentence.text.length - (end - start) < BESIDE_CHARS;
      }),
  };
}

/** What the message before told. */
export function saidBefore({ known, session_id, turn }: Said): readonly Memory[] {
  return known.filter(({ source }) => source?.session_id === session_id && source.turn === turn - 1);
}

interface EndOf {
  readonly target: Memory;
  readonly plain: boolean;
}

/** The memories that a sentence says are over. */
function endingsIn(known: readonly Memory[], sentence: Sentence, words: readonly string[], language: Language): readonly EndOf[] {
  const isEnglish = language.name === "en";
  const again = english.again.in(words) !== -1;
  const over =
    again || english.ends.in(words) !== -1 || (language.name === "de" && words.includes("mehr") && language.not.in(words) !== -1);
  const denied = isEnglish && (english.formerly.in(words) !== -1 || words.some((word) => isDenial(word, language)));
  if (!over && !denied) return [];
  const clauses = clausesOf(sentence, language);
  return thoseOf(known, words, language).flatMap((target): readonly EndOf[] => {
    const isMeant = target.strength === "hard" ? isAbout(target, words) : over && isNamed(target, sentence.text);
    if (!isMeant && !(again && isDietOf(target, words))) return [];
    const ending = endingOf(target, sentence, clauses, language);
    if (ending === null) return [];
    const beside = known.some(
      (other) => other.strength === "hard" && other.subject === target.subject && other !== target && isAbout(other, words),
    );
    return [{ target, plain: (ending === "plain" && !beside) || isDeniedAlone(target, clauses, language) }];
  });
}

/** "We've moved to York": not "my sister moved", "I moved my booking". */
function movesHome(words: readonly string[]): boolean {
  const at = english.moved.in(words);
  const next = at + Math.max(1, english.moved.at(words, at));
  if (at === -1 || !(next === words.length || english.moves_to.has(words[next]))) return false;
  return english.i.has(words[at]) || isSaidOfGuest(words, at);
}

/** "Please don't keep that" by itself is about the message before. */
function saysNothingElse(text: string, commands: ReturnType<typeof commandsOf>, language: Language): boolean {
  let rest = text;
  for (const { start, end } of commands.toReversed()) rest = rest.slice(0, start) + rest.slice(end);
  // "You can forget the peanuts, don't keep that."
  if (english.drops.at(wordsIn(rest), 0) > 0) return true;
  const words = wordsIn(rest);
  // "I'm expecting, so don't store it."
  if (language.first.in(words) !== -1) return false;
  return words.filter((word) => !english.fillers.has(word) && !english.tails.has(word) && word !== "anywhere").length <= 2;
}

/** "My wife is no longer vegan" is said of hers alone, "I'm no longer vegan" of the guest's own. */
function thoseOf(known: readonly Memory[], words: readonly string[], language: Language): readonly Memory[] {
  const relations = words.flatMap((word) => relationOf(word) ?? []);
  const named = known.filter(({ subject }) => {
    const name = subject.replace(/^companion:/u, "");
    return subject !== "self" && (words.includes(folded(name)) || relations.includes(relationOf(name) ?? ""));
  });
  if (named.length > 0 || relations.length > 0) return named;
  return language.first.in(words) !== -1 ? known.filter(({ subject }) => subject === "self") : known;
}

function isNamed(memory: Memory, what: string): boolean {
  if (memory.aspect === "home" && english.homes.in(wordsIn(what)) !== -1 && wordsIn(what).length <= 4) return true;
  const words = wordsIn(what).filter((word) => word.length >= TELLING || /^\d/u.test(word));
  // "My jazz preference" is not all that the guest prefers.
  const held = wordsIn(`${memory.about} ${memory.text}`).filter((word) => word.length >= TELLING && !saysLiking(word));
  return words.some((word) => held.some((other) => alike(word, other)));
}

/** The thing itself is named: one allergy of several. */
export function isAbout({ about }: Memory, words: readonly string[]): boolean {
  return wordsIn(about).some((own) => words.some((word) => alike(own, word)));
}

/** Who was the guest's and is no more: named, or the one that such words are said of. */
function isOfParted(memory: Memory, words: readonly string[]): boolean {
  const relation = relationOf(memory.subject.replace(/^companion:/u, ""));
  if (memory.subject === "self" || relation === undefined) return false;
  const named = words.some((word) => relationOf(word) === relation);
  return named || (english.lovers.has(folded(relation)) && !words.some((word) => relationOf(word) !== undefined));
}

function isDietOf(memory: Memory, words: readonly string[]): boolean {
  return memory.subject === "self" && memory.aspect === "diet" && words.some((word) => word.startsWith("eat"));
}

export function operationsFor(
  drafts: readonly { readonly draft: Draft; readonly dates: Dates }[],
  known: readonly Memory[],
  changes: Changes,
  fitted: (category: string) => string,
): readonly ProposedOperation[] {
  // What is said again in the same breath has not ended.
  const kept = (target: Memory) => target.strength === "hard" && drafts.some(({ draft }) => sameAs(target, draft));
  const asked = changes.asked.filter(({ op, target }) => op === "forget" || !kept(target));
  const operations = asked.map(({ op, target, quote, plain }) =>
    proposedOperationSchema.parse({
      op,
      quote,
      target_id: target.id,
      about: target.about,
      category: target.category,
      subject: target.subject,
      need: target.need,
      // What must hold ends in plain words alone; of others the guest is asked.
      stance: plain || target.strength === "soft" ? "stated" : "unsure",
    }),
  );
  for (const { whom, what, quote } of changes.allAbout)
    operations.push(proposedOperationSchema.parse({ op: "forget", quote, about: what, subject: `companion:${whom}` }));
  const taken = new Set(asked.map(({ target }) => target.id));
  const vegan = drafts.some(({ draft }) => draft.need === "vegan");
  for (const { draft, dates } of drafts) {
    // "No eggs, no dairy: vegan" is one need.
    if (vegan && draft.hard && draft.text.startsWith("No ")) continue;
    const category = fitted(draft.category);
    const free = known.filter(({ id }) => !taken.has(id));
    const alikes = free.find((memory) => !isAskedOtherwise(memory, draft) && sameAs(memory, draft));
    // Another number of one limit takes its place.
    const corrects = changes.corrects || draft.whole === true;
    const isOther = draft.whole
      ? folded(alikes?.text ?? "") !== folded(draft.text)
      : !alike(folded(alikes?.about ?? ""), folded(draft.about));
    const newer = alikes !== undefined && corrects && isOther;
    const same = newer ? undefined : alikes;
    const replaced = newer
      ? alikes
      : same === undefined
        ? free.find((memory) => isOtherDiet(memory, draft) || (corrects && isReplacedBy(memory, draft, category)))
        : undefined;
    if (replaced !== undefined) taken.add(replaced.id);
    operations.push(
      proposedOperationSchema.parse({
        op: same !== undefined ? "confirm" : replaced !== undefined ? "supersede" : "add",
        quote: draft.clause.text,
        target_id: same?.id ?? replaced?.id ?? null,
        text: same === undefined ? draft.text : "",
        about: draft.about,
        category,
        aspect: draft.aspect,
        condition: draft.condition,
        need: draft.need,
        strength: draft.hard ? "hard" : "soft",
        type: draft.hard ? "constraint" : null,
        subject: draft.subject,
        scope: draft.trip ? "trip" : "standing",
        ...dates,
        stance: draft.unsure ? "unsure" : "stated",
        confidence: 0.9,
        entities: draft.name === null ? [] : [draft.name],
      }),
    );
  }
  return operations;
}

function sameAs(memory: Memory, draft: Draft): boolean {
  if (!sameSubject(memory.subject, draft.subject)) return false;
  if (folded(memory.text) === folded(draft.text)) return true;
  return draft.need !== null && memory.need === draft.need && (draft.need !== "other" || alike(folded(memory.about), folded(draft.about)));
}

/** "I might be allergic to nuts" waits for the guest's word: "I am allergic to nuts" is told for itself, whatever that comes to. */
function isAskedOtherwise(memory: Memory, draft: Draft): boolean {
  return memory.status === "review" && folded(memory.text) !== folded(draft.text);
}

/** Vegetarian, then vegan: nobody is both. */
function isOtherDiet(memory: Memory, draft: Draft): boolean {
  return draft.aspect === "diet" && memory.aspect === "diet" && draft.need !== memory.need && sameSubject(memory.subject, draft.subject);
}

function isReplacedBy(memory: Memory, draft: Draft, category: string): boolean {
  return (
    !draft.hard &&
    memory.strength === "soft" &&
    memory.category === category &&
    memory.condition === draft.condition &&
    sameSubject(memory.subject, draft.subject)
  );
}

function sameSubject(a: string, b: string): boolean {
  if (a === b) return true;
  const [one, other] = [a, b].map((subject) => relationOf(subject.replace(/^companion:/u, "")));
  return one !== undefined && one === other;
}
