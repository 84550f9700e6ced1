import type { Span } from "../domain/compared-words.js";
import { readableName } from "../domain/need-name.js";
import { needWordsOf } from "../languages/need-talk.js";
import { folded } from "../platform/phrase-list.js";
import type { Need } from "../ports/agent.js";
import { type MessageToRead, type ProposedOperation, proposedOperationSchema } from "../ports/extraction.js";
import type { NeedTalk } from "../ports/need-talk.js";
import { broughtAlong } from "./checks/brought-along.js";
import { knownNeed } from "./checks/category-and-need.js";
import { introducedBlocks } from "./checks/pasted-lines.js";
import { keyOf, NeedWords, type ToldNeed } from "./checks/told-needs.js";
import { nameOf } from "./companions.js";

/**
 * Needs that the guest's own words tell of and that no reading took up: a reader that may read again does so for these alone; what it
 * leaves then, the guest is asked about by the need's name. Nothing that must hold is lost in silence, and nothing holds by this either.
 */
export class Coverage {
  readonly #needs: readonly Need[];
  readonly #words: NeedWords;
  readonly #avoided: string;

  /** @param talk default: any of a need's words in a sentence that asks nothing tells of it */
  constructor(needs: readonly Need[], talk: NeedTalk | undefined) {
    this.#needs = needs;
    const how = talk ?? plainTalk(needs);
    this.#words = new NeedWords(needs, how);
    this.#avoided = how.avoided;
  }

  /**
   * What is told, neither proposed in whatever form nor known of the same person. `hardOnly`: what is proposed as what need not hold is no
   * judgement that it need not, as who reads by rules doesn't make one. `over`: where the reader found that needs are over.
   */
  uncovered(
    message: MessageToRead,
    proposals: readonly ProposedOperation[],
    { hardOnly = false, over = [] }: { readonly hardOnly?: boolean; readonly over?: readonly Span[] } = {},
  ): readonly ToldNeed[] {
    const isOver = ({ span }: ToldNeed) => over.some(({ start, end }) => start <= span.start && span.end <= end);
    const told = this.#words.toldIn(ownWordsOf(message.text)).filter((each) => !isOver(each));
    if (told.length === 0) return [];
    const meant = proposals
      .filter(hardOnly ? mayMean : isMeant)
      .map((proposal) => ({ ...proposal, names: this.#needsOf(proposal, message) }));
    const covered = (each: ToldNeed) => {
      const key = keyOf(each);
      // Of the guest and of a companion: one proposal is of one of them.
      const isOfTwo = told.some((other) => keyOf(other) === key && isSelf(other) !== isSelf(each));
      const isProposed = meant.some(
        (proposal) =>
          (!isOfTwo || isSelf(proposal) === isSelf(each)) &&
          (proposal.names.has(each.need) || proposal.names.has(key) || (each.need === OTHER && quotes(proposal, each))),
      );
      const isHeld = told.some((other) => other.subject === each.subject && this.#words.heldBy(other.need).has(each.need));
      return isProposed || isHeld;
    };
    return told.filter((each) => !covered(each) && !message.known.some((memory) => this.#isKnown(each, memory)));
  }

  /** Whether the guest's own words tell of a need of anybody's. */
  tellsIn(text: string): boolean {
    return this.#words.toldIn(ownWordsOf(text)).length > 0;
  }

  /** Whether a proposal speaks of one of them. */
  isOf(told: readonly ToldNeed[], proposal: ProposedOperation, message: MessageToRead): boolean {
    const named = this.#needsOf(proposal, message);
    return told.some((each) => named.has(each.need) || named.has(keyOf(each)));
  }

  /** What a proposal speaks of; its whole quote only where its other words speak of no need at all and it may mean one all the same. */
  #needsOf(proposal: ProposedOperation, { known }: MessageToRead): ReadonlySet<string> {
    const { text, about, aspect, quote, need, target_id } = proposal;
    const target = known.find(({ id }) => id === target_id);
    const named = this.#words.namedIn([text, about, aspect, target?.text ?? ""].join("\n"));
    const byName = [knownNeed(need, this.#needs), target?.need ?? null].flatMap((name) => (name === null ? [] : [name]));
    const names = byName.filter((name) => name !== OTHER);
    // What holds as one need holds as no other, whatever else its text names: "needs a ramp, and no nuts" is two.
    if (names.length > 0) return new Set([...names, ...names.flatMap((name) => [...this.#words.heldBy(name)])]);
    // Of several, one memory that holds as none of them lets none be checked.
    const apart = [...named].filter((name) => this.#isNeed(name) && ![...named].some((other) => this.#words.heldBy(other).has(name)));
    if (proposal.op === "add" && proposal.strength === "hard" && apart.length > 1) return new Set();
    if (named.size > 0) return named;
    return mayMean(proposal) ? this.#words.namedIn(quote) : new Set();
  }

  #isNeed(name: string): boolean {
    return this.#needs.some((need) => need.name === name);
  }

  /** For the guest's word, by the need's name: nobody has said more. */
  askedByName(told: ToldNeed, message: MessageToRead): ProposedOperation {
    const { need, category, word, subject, span } = told;
    const name = this.#nameOf(told);
    const relation = nameOf(subject ?? "");
    return proposedOperationSchema.parse({
      op: "add",
      quote: message.text.slice(span.start, span.end).trim().slice(0, MAX_QUOTE_CHARS).trim(),
      text: relation === null ? name : `${readableName(relation)}: ${name.charAt(0).toLowerCase()}${name.slice(1)}`,
      about: word,
      category,
      need,
      strength: "hard",
      stance: "unsure",
      subject: subject ?? "self",
    });
  }

  /** "No nuts", "Step free (wheelchair)": with the guest's own word where the name doesn't say it. */
  #nameOf(told: ToldNeed): string {
    const { need, word, isThing } = told;
    if (need === OTHER) return isThing ? this.#avoided.replace("{word}", () => word) : readableName(word);
    const name = readableName(need);
    return folded(name).includes(folded(word)) ? name : `${name} (${word})`;
  }

  #isKnown(told: ToldNeed, { need, text, strength, subject, entities }: MessageToRead["known"][number]): boolean {
    if (strength !== "hard") return false;
    const isTheirs =
      told.subject === null ||
      told.subject === subject ||
      (subject !== "self" && told.subject !== "self" && isAlso(told, subject, entities));
    if (!isTheirs) return false;
    if (need !== null && need !== OTHER) return need === told.need || this.#words.heldBy(need).has(told.need);
    return this.#words.namedIn(text).has(keyOf(told));
  }
}

const OTHER = "other";

/** What is unsure and need not hold is dropped: a need in it would go with it. */
function isMeant(proposal: ProposedOperation): boolean {
  return proposal.stance !== "unsure" || mayMean(proposal);
}

function isSelf({ subject }: Pick<ToldNeed, "subject">): boolean {
  return subject === null || subject === "self";
}

function quotes(proposal: ProposedOperation, { word }: ToldNeed): boolean {
  return mayMean(proposal) && folded(proposal.quote).includes(folded(word));
}

/** In words of its own for what must hold. "Loves opera" doesn't mean the nuts that stand in its quote. */
function mayMean({ op, strength, need }: ProposedOperation): boolean {
  return op !== "add" || strength === "hard" || need !== null;
}

/** One companion may be known by a name, and told of by a relation: asked about both, the guest would wonder. */
function isAlso({ subject }: ToldNeed, known: string, entities: readonly string[]): boolean {
  const relation = nameOf(subject ?? "");
  return relation !== null && (nameOf(known)?.includes(relation) === true || entities.includes(relation));
}

/** By the need's name; what is none of the domain's by the guest's word for it. */
export function calledBy({ need, word }: ToldNeed): string {
  return need === OTHER ? word : need;
}

const MAX_QUOTE_CHARS = 200;

/** Of the message's length: what was brought along is blank. */
function ownWordsOf(text: string): string {
  const own = [...broughtAlong(text), ...introducedBlocks(text)];
  return own.reduce((line, { start, end }) => line.slice(0, start) + "\n".repeat(end - start) + line.slice(end), text);
}

function plainTalk(needs: readonly Need[]): NeedTalk {
  const none: readonly string[] = [];
  const said = {
    harm: none,
    avoid: none,
    behind: none,
    not: none,
    unable: none,
    over: none,
    own: none,
    asks: none,
    others: none,
    supposed: none,
  };
  const words = needWordsOf(needs).map((each) => ({ ...each, kind: each.kind === "limit" ? each.kind : ("be" as const) }));
  return { ...said, words, brings: none, relations: [], avoided: "{word}" };
}
