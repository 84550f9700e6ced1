import {
  type ExtractionInput,
  type Extractor,
  type Memory,
  type MemoryOperation,
  type ProposedOperation,
  proposedOperationSchema,
  type Statement,
} from "../long-term.js";
import { memoryIdOf } from "../platform/ids.js";
import { type Category, CONCIERGE_CATEGORIES } from "./categories.js";
import { addressesAssistant, saysYou } from "./promotable/address.js";
import { steeringOf } from "./promotable/instructions.js";
import { drawnFromReport, isRequest, moodOf, speaksOfStrangers } from "./promotable/mood.js";
import { isDisguised } from "./promotable/obfuscation.js";
import { type LocatedQuote, OwnVoice } from "./promotable/quote.js";
import { holdsSecret } from "./promotable/secrets.js";
import { fitStatement } from "./promotable/shape.js";
import { isSmallTalk } from "./promotable/small-talk.js";
import { supportOf } from "./promotable/support.js";

/**
 * The guards between any extractor and the memory: whoever proposes, only what the user themselves said, meant and said of
 * themselves or their companions gets through. `input.text` must be the authenticated user's own message: assistant, tool,
 * page and system text never reach extraction, which the caller sees to by handing over user messages alone.
 *
 * A proposal is promoted, put to `review` (stored and shown, never recalled until the user approves) or refused.
 */

export type Reason =
  | "malformed"
  /** The quote is not in the message. */
  | "no_quote"
  | "question"
  | "hypothetical"
  | "unsure"
  | "joke"
  | "reported"
  /** What stands before it hands over somebody else's words, or made-up ones: "This is what the leaflet said." */
  | "borrowed"
  | "third_party"
  | "memory_command"
  /** Something to be done now: the booking that comes of it is kept by the domain. */
  | "request"
  | "instruction"
  | "secret"
  /** "Thanks!", "Hm, ok." */
  | "small_talk"
  /** The quote doesn't say what the statement says. */
  | "unsupported"
  | "disguised"
  /** It speaks to the assistant, or of nobody, rather than of the guest. */
  | "addressed"
  /** Another part of the message steers the assistant. */
  | "tainted"
  /** The memory that it is about is not among those that were given. */
  | "unknown_target"
  /** Said before in this message. */
  | "repeated";

export type Judgement =
  | { readonly verdict: "promote" | "review"; readonly proposal: ProposedOperation; readonly reasons: readonly Reason[] }
  | { readonly verdict: "refuse"; readonly reasons: readonly Reason[] };

export interface GuardOptions {
  readonly categories?: readonly Category[];
  /** Told of everything that did not pass as it was: codes only, no text. */
  readonly onJudged?: (judged: {
    readonly messageId: string;
    readonly verdict: "review" | "refuse";
    readonly reasons: readonly Reason[];
  }) => void;
}

/** Judges one proposal by itself. */
export function judge(input: ExtractionInput, proposal: unknown, options: GuardOptions = {}): Judgement {
  return new Guard(input, options.categories ?? CONCIERGE_CATEGORIES).judge(proposal);
}

/** The extractor behind the guards. What it throws is passed on: nothing is lost silently. */
export function guarded(extractor: Extractor, options: GuardOptions = {}): Extractor {
  return {
    name: extractor.name,
    extract: async (input, { signal }) => passing(input, await extractor.extract(input, { signal }), options),
  };
}

/** Proposals that come from elsewhere (a tool call) through the same guards, as operations. */
export function promote(input: ExtractionInput, proposals: readonly unknown[], options: GuardOptions = {}): MemoryOperation[] {
  return toOperations(input, passing(input, proposals, options));
}

function passing(input: ExtractionInput, proposals: readonly unknown[], options: GuardOptions): ProposedOperation[] {
  const guard = new Guard(input, options.categories ?? CONCIERGE_CATEGORIES);
  const passed: ProposedOperation[] = [];
  for (const proposal of proposals) {
    const judged = guard.judge(proposal);
    if (judged.verdict !== "promote") options.onJudged?.({ messageId: input.message_id, verdict: judged.verdict, reasons: judged.reasons });
    if (judged.verdict !== "refuse") passed.push(judged.proposal);
  }
  return passed;
}

/** Guarded proposals as operations of a plan: with the ids that their memories will have, whenever it is carried out. */
export function toOperations(input: ExtractionInput, proposals: readonly ProposedOperation[]): MemoryOperation[] {
  const { owner, session_id, turn, message_id } = input;
  const stated_at = input.stated_at.toISOString();
  return proposals.map((proposal, index): MemoryOperation => {
    const source = { session_id, turn, message_id, quote: proposal.quote };
    const memory_id = memoryIdOf(owner, session_id, message_id, index);
    switch (proposal.op) {
      case "add":
        return { op: "add", memory_id, stated_at, source, statement: proposal.statement, review: proposal.review ?? false };
      case "supersede":
        return { op: "supersede", memory_id, target_id: proposal.target_id, stated_at, source, statement: proposal.statement };
      default:
        return { op: proposal.op, target_id: proposal.target_id, stated_at, source };
    }
  });
}

class Guard {
  readonly #input: ExtractionInput;
  readonly #categories: readonly Category[];
  readonly #voice: OwnVoice;
  readonly #tainted: boolean;
  readonly #disguised: boolean;
  readonly #seen = new Set<string>();

  constructor(input: ExtractionInput, categories: readonly Category[]) {
    this.#input = input;
    this.#categories = categories;
    this.#voice = new OwnVoice(input.text, input.context.findLast((said) => said.role === "user")?.content);
    this.#tainted = steeringOf(this.#voice.ownText()) === "refused";
    this.#disguised = isDisguised(this.#voice.ownText());
  }

  judge(raw: unknown): Judgement {
    const parsed = proposedOperationSchema.safeParse(raw);
    if (!parsed.success) return refuse("malformed");
    const proposal = parsed.data;
    const located = this.#voice.locate(proposal.quote);
    if (located === null) return refuse("no_quote");
    const quote = drawnFromReport(located) ?? located;
    const reason = this.#reasonAgainst(quote);
    if (reason !== null && !(reason === "memory_command" && proposal.op === "forget")) return refuse(reason);
    switch (proposal.op) {
      case "add":
        return this.#judgeStatement(proposal.statement, quote, []);
      case "supersede":
        return this.#judgeSupersede(proposal.target_id, proposal.statement, quote);
      default:
        return this.#judgeTargeted(proposal, quote);
    }
  }

  #reasonAgainst(quote: LocatedQuote): Reason | null {
    const whole = quote.sentences.map((sentence) => sentence.text).join(" ");
    if (steeringOf(whole) === "refused" || steeringOf(quote.text) === "refused") return "instruction";
    if (holdsSecret(whole) || holdsSecret(quote.text)) return "secret";
    return moodOf(quote, this.#voice.ownText());
  }

  #judgeStatement(proposed: Statement, quote: LocatedQuote, related: readonly string[]): Judgement {
    const whole = quote.sentences.map((sentence) => sentence.text).join(" ");
    const statement = fitStatement(proposed, this.#input, whole, this.#categories);
    if (statement === null) return refuse("malformed");
    const said = [statement.text, statement.aspect, statement.subject, ...statement.tags].join(" | ");
    const steering = steeringOf(said);
    if (steering === "refused") return refuse("instruction");
    if (holdsSecret(said)) return refuse("secret");
    if (speaksOfStrangers(quote, statement.subject)) return refuse("third_party");
    if (isRequest(quote)) return refuse("request");
    if (isSmallTalk(quote.text)) return refuse("small_talk");
    const support = supportOf(statement.text, quote.text, related);
    if (support === "unsupported" || !this.#namesSubject(statement.subject)) return refuse("unsupported");
    const key = `${statement.subject}|${statement.category}|${statement.text.toLowerCase()}`;
    if (this.#seen.has(key)) return refuse("repeated");
    this.#seen.add(key);

    const doubts: Reason[] = [];
    if (support === "partly") doubts.push("unsupported");
    if (addressesAssistant(whole) || saysYou(statement.text)) doubts.push("addressed");
    if (this.#voice.isBorrowed(quote)) doubts.push("borrowed");
    if (this.#tainted) doubts.push("tainted");
    if (this.#disguised) doubts.push("disguised");
    if (steering === "doubtful" || steeringOf(whole) === "doubtful") doubts.push("instruction");
    const proposal = { op: "add" as const, quote: quote.text, statement };
    return doubts.length > 0
      ? { verdict: "review", proposal: { ...proposal, review: true }, reasons: doubts }
      : { verdict: "promote", proposal, reasons: [] };
  }

  /** A new statement in place of a stored one; without a statement, the stored one ends. Doubtful ones are added for review and replace nothing. */
  #judgeSupersede(targetId: string, statement: Statement | null, quote: LocatedQuote): Judgement {
    const target = this.#target(targetId);
    if (statement === null) {
      return this.#judgeTargeted({ op: "supersede", quote: quote.text, target_id: targetId, statement: null }, quote);
    }
    const judged = this.#judgeStatement(statement, quote, []);
    if (judged.verdict !== "promote" || judged.proposal.op !== "add" || target === undefined) return judged;
    const { subject, category } = judged.proposal.statement;
    const fits = target.subject === subject && target.category === category && (target.strength !== "hard" || isAbout(quote, target));
    if (!fits) return judged;
    return {
      verdict: "promote",
      reasons: [],
      proposal: { op: "supersede", quote: quote.text, target_id: targetId, statement: judged.proposal.statement },
    };
  }

  #judgeTargeted(proposal: Extract<ProposedOperation, { op: "confirm" | "forget" | "supersede" }>, quote: LocatedQuote): Judgement {
    const target = this.#target(proposal.target_id);
    if (target === undefined) return refuse("unknown_target");
    if (this.#voice.isBorrowed(quote)) return refuse("borrowed");
    if (this.#tainted || this.#disguised) return refuse("tainted");
    if (proposal.op !== "forget" && addressesAssistant(quote.sentences.map((sentence) => sentence.text).join(" ")))
      return refuse("addressed");
    if (!isAbout(quote, target)) return refuse("unsupported");
    if (proposal.op !== "confirm" && !ENDS.test(quote.sentences.map((sentence) => sentence.text).join(" "))) return refuse("unsupported");
    return { verdict: "promote", reasons: [], proposal: { ...proposal, quote: quote.text } };
  }

  #target(id: string): Memory | undefined {
    return this.#input.related.find((memory) => memory.id === id);
  }

  /** A companion was named by the user: in this message, or before it where a pronoun points back. */
  #namesSubject(subject: string): boolean {
    if (subject === "self") return true;
    const name = subject.slice("companion:".length);
    const own = [
      this.#voice.ownText(),
      ...this.#input.context.filter((said) => said.role === "user").map((said) => new OwnVoice(said.content).ownText()),
    ];
    return supportOf(name, own.join(" \n ")) === "supported";
  }
}

/** Words that say that something no longer holds, or is to go. */
const ENDS =
  /(?<!\p{L})(?:no longer|not|n't|no more|any ?more|never|stop(?:ped)?|quit|used to|forget|delete|remove|erase|over|gone|outgrown|outgrew|cured|can (?:\p{L}+ ){1,5}again|(?:moved|moving) (?:away|out)|wrong|changed|instead|rather|former|nicht|kein\p{L}*|mehr|vergiss|lösch\p{L}*|plus|pas|oublie\p{L}*|ya no|no|olvida\p{L}*|non|più|dimentica\p{L}*)(?!\p{L})|n['’]t(?!\p{L})/iu;

/** Whether the quote speaks of what the memory holds. */
function isAbout(quote: LocatedQuote, memory: Memory): boolean {
  const words = quote.sentences.map((sentence) => sentence.text).join(" ");
  return [memory.aspect, memory.text].some((said) => said !== "" && supportOf(said, words) !== "unsupported");
}

function refuse(...reasons: readonly Reason[]): Judgement {
  return { verdict: "refuse", reasons };
}
