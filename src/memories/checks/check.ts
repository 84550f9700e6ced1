// Over 300 lines: the checks of one message, which share what is known of it.

import type { Category } from "../../domain/categories.js";
import { type Span, wordsOf } from "../../domain/compared-words.js";
import { folded } from "../../domain/folded-text.js";
import type { Memory, WaitingReason } from "../../domain/memory.js";
import { holdsSecret, secretsIn } from "../../domain/secrets.js";
import type { Need } from "../../ports/agent.js";
import type { MessageToRead, ProposedOperation, Reading } from "../../ports/extraction.js";
import type { CheckedOperation, CheckedReading, RefusedProposal } from "../checked-operation.js";
import { nameOf } from "../companions.js";
import { borneOutByWords, namesNeedOf, sharedThing } from "./borne-out.js";
import { broughtAlong } from "./brought-along.js";
import { asTheirOwn, isDoubted, isOfAnother, knownNeed } from "./category-and-need.js";
import { isAsked, isFaithful, questionAnswered, questionBefore } from "./faithful-text.js";
import { isPrecise, QuotedMessage } from "./locate-quote.js";
import { forgetsAllAbout, isOfAnotherNeed, namesTarget, widened } from "./named-change.js";
import { introducedBlocks } from "./pasted-lines.js";
import { isNamedIn, SaidWords } from "./said-words.js";
import { overlaps, textOutside, united } from "./spans.js";
import { isHard, statementOf, thingOf, wordsIn } from "./statement.js";

/** Why a proposal was dropped. What was only doubtful waits instead ({@link WaitingReason}). */
export type DropReason = "quote_missing" | "secret" | "not_stated" | "unknown_target" | "empty" | "repeated" | "too_many";

export interface CheckOptions {
  /** Who read. */
  readonly reader: string;
  readonly categories: readonly Category[];
  readonly needs: readonly Need[];
  /** Whether a proposal's text means what its quote says, by whoever knows meanings. Default: words alone bear witness. */
  readonly isAlike?: (proposal: ProposedOperation) => boolean;
}

/** Of one message. */
const MAX_OPERATIONS = 30;

/**
 * What a model proposes from a message, as the message bears it out: the same in every language, and linear in its length. Nothing is
 * refused but secrets, what quotes nothing and names nothing, and what is neither stated nor a need; what is doubtful waits for the
 * guest's word.
 */
export function check(message: MessageToRead, reading: Reading, options: CheckOptions): CheckedReading {
  const checks = new MessageChecks(message, reading, options);
  const operations: CheckedOperation[] = [];
  const dropped: Record<string, number> = {};
  const refused: RefusedProposal[] = [];
  const drop = (reason: string, times = 1) => {
    dropped[reason] = (dropped[reason] ?? 0) + times;
  };
  if (reading.unreadable > 0) drop("unreadable", reading.unreadable);
  for (const [index, proposal] of reading.operations.entries()) {
    const checked = index < MAX_OPERATIONS ? checks.checked(proposal, index) : "too_many";
    if (typeof checked !== "string") operations.push(checked);
    else {
      drop(checked);
      refused.push({ op: proposal.op, quote_at: index < MAX_OPERATIONS ? checks.shownQuote(proposal, checked) : null, reason: checked });
    }
  }
  return { reader: options.reader, operations, off_record: reading.off_record, dropped, refused };
}

/** A shorter part of a secret stands in any text: "CH93 … 7". */
const MIN_PART = 3;
/** A shorter word is grammar as well: "my password is not working". */
const MIN_WORD = 6;

/** The parts of secrets that tell of them: with a digit, or long words that stand nowhere else. */
function partsOf(secrets: readonly Span[], text: string): ReadonlySet<string> {
  const within = secrets.flatMap(({ start, end }) => wordsOf(folded(text.slice(start, end)))).map((word) => word.text);
  if (within.length === 0) return new Set();
  const outside = textOutside(text, { start: 0, end: text.length }, united(secrets));
  const elsewhere = new Set(wordsOf(folded(outside)).map((word) => word.text));
  const tells = (part: string) => (/\p{N}/u.test(part) ? part.length >= MIN_PART : part.length >= MIN_WORD && !elsewhere.has(part));
  return new Set(within.filter(tells));
}

/** Fewer words name a thing as well as anybody could; scripts without spaces are left to the other checks. */
const SENTENCE_WORDS = 8;

/** A quote where it stands, and what of it are the guest's own words. */
interface Located {
  readonly span: Span;
  /** The message's own bytes. */
  readonly quote: string;
  readonly own: string;
  /** Part of it, or all, was brought along. */
  readonly mixed: boolean;
  /** What the quote answers; empty where nothing. */
  readonly question: string;
}

/**
 * `thing`: one that must be minded. `name`: all that is said of it is its name, or somebody's. `nothing`: the words are a question's, none
 * of which names a thing, and to ask it back would make no sense.
 */
type Tells = "thing" | "name" | "nothing";

class MessageChecks {
  readonly #message: MessageToRead;
  readonly #options: CheckOptions;
  readonly #text: QuotedMessage;
  readonly #broughtAlong: readonly Span[];
  readonly #ownText: string;
  readonly #introduced: readonly Span[];
  readonly #secrets: readonly Span[];
  readonly #secretWords: ReadonlySet<string>;
  readonly #question: string;
  /** What is also proposed as what need not hold. */
  readonly #soft = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #saidTexts = new Map<string, SaidWords>();

  constructor(message: MessageToRead, reading: Reading, options: CheckOptions) {
    this.#message = message;
    this.#options = options;
    this.#text = new QuotedMessage(message.text);
    this.#broughtAlong = broughtAlong(message.text);
    const whole = { start: 0, end: message.text.length };
    this.#ownText = textOutside(message.text, whole, this.#broughtAlong);
    this.#introduced = introducedBlocks(message.text);
    this.#secrets = secretsIn(message.text);
    this.#secretWords = partsOf(this.#secrets, message.text);
    this.#question = questionBefore(message);
    for (const proposal of reading.operations) if (proposal.op === "add" && !isHard(proposal, options)) this.#soft.add(thingOf(proposal));
  }

  checked(proposal: ProposedOperation, index: number): CheckedOperation | DropReason {
    const exact = this.#text.locate(proposal.quote);
    const span = exact ?? this.#sentenceNaming(proposal);
    if (span === null) return "quote_missing";
    const said = `${this.#message.text.slice(span.start, span.end)} | ${wordsIn(proposal)}`;
    if (this.#secrets.some((secret) => overlaps(secret, span)) || this.#tellsSecret(said)) return "secret";
    const target = this.#message.known.find(({ id }) => id === proposal.target_id);
    const located = this.#located(span);
    const key = [proposal.op, target?.id, proposal.subject, folded(proposal.text), folded(located.quote)].join("|");
    if (this.#seen.has(key)) return "repeated";
    this.#seen.add(key);
    if (exact === null) return this.#statement(proposal, index, located, null, "not_named");
    if (proposal.op === "confirm" && target?.strength === "hard" && proposal.subject !== "self" && this.#isOfAnother(proposal, target))
      return this.#statement(asTheirOwn(proposal, target), index, located, null);
    // Said plainly now, in words that a doubt did not have.
    if (proposal.op === "confirm" && target?.strength === "hard" && isDoubted(target) && proposal.text.trim() !== "") {
      if (this.#names(target, located)) return this.#statement(asTheirOwn(proposal, target), index, located, null);
      // What was doubted in other words may be another thing, or the opposite: what names its own is said by itself.
      if (this.#isNamedIn(proposal.about, located.own)) return this.#statement(proposal, index, located, null);
    }
    const another = this.#statesAnother(proposal, target);
    if (proposal.op === "add" || (another && proposal.op === "confirm")) return this.#statement(proposal, index, located, null);
    if (proposal.op === "supersede" || another) return this.#replacement(proposal, index, located, target);
    if (target === undefined) return proposal.op === "forget" ? forgetsAllAbout(proposal, index, located) : "unknown_target";
    return this.#change(proposal, index, located, target);
  }

  /** One of its own, or a part of the message's. */
  #tellsSecret(words: string): boolean {
    if (holdsSecret(words)) return true;
    return this.#secretWords.size > 0 && wordsOf(folded(words)).some(({ text }) => this.#secretWords.has(text));
  }

  /** Where the quote of what was refused stands: never that of a secret. */
  shownQuote({ quote }: ProposedOperation, reason: DropReason): Span | null {
    return reason === "secret" ? null : this.#text.locate(quote);
  }

  /** Where a need whose quote stands nowhere is named all the same: it is asked about, and never dropped for a careless copy. */
  #sentenceNaming(proposal: ProposedOperation): Span | null {
    const { op, about } = proposal;
    if ((op !== "add" && op !== "supersede") || about.trim() === "" || !isHard(proposal, this.#options)) return null;
    const named = this.#text.locate(about);
    if (named === null) return null;
    const { start, end } = widened(this.#message.text, named);
    const before = /^\s*/u.exec(this.#message.text.slice(start, end))?.[0].length ?? 0;
    return { start: start + before, end };
  }

  /** A confirmation or an end that says another thing in its text, which must hold: it is not lost for the name of the operation. */
  #statesAnother(proposal: ProposedOperation, target: Memory | undefined): boolean {
    const { op, need, text } = proposal;
    if ((op !== "confirm" && op !== "end") || text.trim() === "") return false;
    if (target === undefined) return op === "confirm";
    return knownNeed(need, this.#options.needs) !== null && !this.#isAboutSame(proposal, target);
  }

  #isAboutSame({ about, aspect, need, text }: ProposedOperation, target: Memory): boolean {
    const known = knownNeed(need, this.#options.needs);
    if (known !== null && known === target.need) return true;
    if (aspect.trim() !== "" && folded(aspect) === folded(target.aspect)) return true;
    const [thing, other] = [about.trim() === "" ? text : about, target.about === "" ? target.text : target.about];
    return this.#isNamedIn(thing, other) || this.#isNamedIn(other, thing);
  }

  #located(span: Span): Located {
    const quote = this.#message.text.slice(span.start, span.end);
    const own = textOutside(this.#message.text, span, this.#broughtAlong);
    const mixed = this.#broughtAlong.some((part) => overlaps(part, span));
    return { span, quote, own, mixed, question: questionAnswered(this.#question, quote) };
  }

  /** What holds from now on: at once, or after the guest's word. */
  #statement(
    proposal: ProposedOperation,
    index: number,
    located: Located,
    target: Memory | null,
    changeWaits: WaitingReason | null = null,
  ): CheckedOperation | DropReason {
    const hard = isHard(proposal, this.#options);
    if (!hard && proposal.stance !== "stated" && proposal.stance !== "instruction") return "not_stated";
    // Numbers and links stand in the quote; a name may have been said elsewhere in the message ("there"), or in what is replaced.
    const names = [located.quote, located.question, this.#ownText, ...this.#companionsNamed(proposal), target?.text ?? ""];
    const faithful = isFaithful(
      proposal.text,
      `${located.quote} ${located.question}`,
      names.map((text) => this.#said(text)),
    );
    const text = proposal.text.trim() === "" || !faithful ? located.quote : proposal.text;
    const statement = statementOf(proposal, text, this.#message, this.#options);
    if (statement === null) return "empty";
    const tells = this.#tells(proposal, located);
    const reason = this.#reasonToWait(proposal, hard, located, tells) ?? changeWaits;
    if (hard && (reason === "not_named" || reason === "unsure") && tells === "nothing") return "empty";
    return {
      op: target === null ? "add" : "supersede",
      index,
      target_id: target?.id ?? null,
      quote: located.quote,
      statement,
      waits: reason,
      brought_along: reason === "brought_along",
    };
  }

  /** Whether what was read may be a memory at once, whichever door it came by: null, and it holds; else why it waits for a yes. */
  #reasonToWait(proposal: ProposedOperation, hard: boolean, located: Located, tells: Tells): WaitingReason | null {
    if (this.#isBroughtAlong(located, proposal)) return "brought_along";
    if (proposal.stance !== "stated") return proposal.stance === "pasted" ? "brought_along" : proposal.stance;
    if (!hard) return null;
    if (this.#introduced.some((block) => overlaps(block, located.span))) return "reported";
    if (!proposal.explicit) return "inferred";
    // The reading contradicts itself on the same thing.
    if (this.#soft.has(thingOf(proposal)) || tells !== "thing") return "unsure";
    if (!isPrecise(located.quote) || this.#isRawSentence(proposal, located)) return "not_named";
    const said = [located.own, located.question];
    const about = proposal.about.trim() === "" ? sharedThing(proposal, said, this.#options.needs) : proposal.about;
    const told = { ...proposal, about };
    return this.#isThingNamed(told, said) && this.#isBorneOut(told, said) ? null : "not_named";
  }

  /** What a proposal's words tell, where they may be no more than a name, or than a question. */
  #tells(proposal: ProposedOperation, { span, quote, own, question }: Located): Tells {
    const { about, need, stance, subject, text } = proposal;
    const { needs } = this.#options;
    if (isAsked(this.#message.text, span)) {
      const isBare = this.#holdsAll(quote, about) && !namesNeedOf(proposal, [own], needs);
      const isOwn = stance === "stated" && knownNeed(need, needs) === null && (text.trim() === "" || this.#holdsAll(text, quote));
      if (isOwn && (isBare || !this.#isThingNamed(proposal, [own, question]))) return "nothing";
      if (isBare) return "name";
    }
    const isName = this.#holdsAll(about, nameOf(subject) ?? "") && this.#holdsAll(text.trim() === "" ? quote : text, about);
    return isName ? "name" : "thing";
  }

  /** An answer of the older form doesn't say what it is about: then its need's words do, or its text. */
  #isThingNamed(proposal: ProposedOperation, said: readonly string[]): boolean {
    const { about, text } = proposal;
    const isMissing = about.trim() === "";
    if (isMissing && namesNeedOf(proposal, said, this.#options.needs)) return true;
    return said.some((each) => this.#isNamedIn(isMissing ? text : about, each));
  }

  /** A sentence as it was said, in the place of a need that nobody has made of it, and that is none of the domain's. */
  #isRawSentence(proposal: ProposedOperation, { quote }: Located): boolean {
    const { needs } = this.#options;
    if (quote.trim().split(/\s+/u).length < SENTENCE_WORDS || knownNeed(proposal.need, needs) !== null) return false;
    return this.#holdsAll(proposal.text.trim() === "" ? quote : proposal.text, quote) && !namesNeedOf(proposal, [quote], needs);
  }

  #isBorneOut(proposal: ProposedOperation, said: readonly string[]): boolean {
    const { needs, isAlike = () => false } = this.#options;
    const words = borneOutByWords(proposal, said, needs);
    return words === "yes" || (words === "unclear" && isAlike(proposal));
  }

  /** Something in place of what is known. A hard memory that isn't named stays beside it. */
  #replacement(proposal: ProposedOperation, index: number, located: Located, target: Memory | undefined): CheckedOperation | DropReason {
    if (target === undefined) return proposal.text.trim() === "" ? "unknown_target" : this.#statement(proposal, index, located, null);
    if (proposal.text.trim() === "") return this.#change({ ...proposal, op: "end" }, index, located, target);
    if (target.strength === "soft" || (this.#names(target, located) && this.#mayReplace(proposal, target, located)))
      return this.#statement(proposal, index, located, target);
    // Another need is no change of the one that nobody spoke of: both hold.
    return isHard(proposal, this.#options)
      ? this.#statement(proposal, index, located, null)
      : this.#statement(proposal, index, located, target, "unclear_change");
  }

  /** An end, a confirmation, a forgetting. */
  #change(proposal: ProposedOperation, index: number, located: Located, target: Memory): CheckedOperation | DropReason {
    const { op, stance } = proposal;
    if (op === "add" || op === "supersede") return "empty";
    // To forget is told, as an instruction is.
    const stated = stance === "stated" || (op === "forget" && stance === "instruction");
    const foreign = located.mixed && !/[\p{L}\p{N}]/u.test(located.own);
    const hard = target.strength === "hard" && op !== "confirm";
    if (!hard && (!stated || foreign)) return "not_stated";
    // A subject that is left out is nobody else.
    const ofTarget = proposal.subject === "self" || !this.#isOfAnother(proposal, target);
    const waits =
      !hard || (stated && !foreign && ofTarget && this.#names(target, located)) ? null : foreign ? "brought_along" : "unclear_change";
    if (waits !== null && isOfAnotherNeed(proposal, target, this.#options.needs)) return "unknown_target";
    return {
      op,
      index,
      target_id: target.id,
      quote: located.quote,
      statement: null,
      waits,
      brought_along: foreign,
    };
  }

  /** One person's need in place of another's, where the guest spoke of both ("it's my son, not my daughter"), or of another thing. */
  #mayReplace(proposal: ProposedOperation, target: Memory, located: Located): boolean {
    if (!this.#isOfAnother(proposal, target)) return true;
    const person = nameOf(target.subject);
    if (person === null) return !this.#isNamedIn(proposal.about, target.about) && !this.#isNamedIn(target.about, proposal.about);
    return this.#isNamedIn(person, textOutside(this.#message.text, widened(this.#message.text, located.span), this.#broughtAlong));
  }

  #isOfAnother(proposal: ProposedOperation, target: Memory): boolean {
    return isOfAnother(proposal, target, this.#message);
  }

  #names(target: Memory, located: Located): boolean {
    return namesTarget(target, this.#message.text, located.span, this.#broughtAlong, located.question);
  }

  /** The companion's names and relation that the user or what is known has named: they may stand in a text then. */
  #companionsNamed({ subject, entities }: ProposedOperation): readonly string[] {
    const own = nameOf(subject);
    if (own === null) return [];
    const said = [this.#message.text, ...this.#message.context.flatMap(({ role, content }) => (role === "user" ? [content] : []))];
    const isKnown = (name: string) =>
      said.some((text) => this.#isNamedIn(name, text)) || this.#message.known.some(({ subject }) => this.#isNamedIn(name, subject));
    return [own, ...entities].map((name) => name.slice(0, 64)).filter(isKnown);
  }

  /** All of the quote was brought along, or what the proposal is about stands in that part of it alone. */
  #isBroughtAlong({ own, mixed, quote }: Located, { about, text }: ProposedOperation): boolean {
    if (!mixed) return false;
    if (!/[\p{L}\p{N}]/u.test(own)) return true;
    if (about.trim() !== "") return !this.#isNamedIn(about, own) && this.#isNamedIn(about, quote);
    return !this.#isNamedIn(text, own);
  }

  #isNamedIn(thing: string, text: string): boolean {
    return isNamedIn(thing, this.#said(text));
  }

  /** Whether all words of the one stand in the other, as they are and one after the other. */
  #holdsAll(words: string, text: string): boolean {
    const wanted = wordsOf(folded(words)).map((word) => word.text);
    return wanted.length > 0 && this.#said(text).holds(wanted);
  }

  /** Its words, parted once for all proposals that meet them. */
  #said(text: string): SaidWords {
    const known = this.#saidTexts.get(text);
    if (known !== undefined) return known;
    const said = new SaidWords(text);
    this.#saidTexts.set(text, said);
    return said;
  }
}
