import type { Memory } from "../../src/domain/memory.js";
import { type Conversation, type Expected, FOREIGN, forbids, TRAPS } from "../../src/operations/evaluation-set.js";
import { type MessageReader, type MessageToRead, type ProposedOperation, proposedOperationSchema } from "../../src/ports/extraction.js";
import { sampleOf } from "./sample-of-pattern.js";

/** Models that are scripted from what a conversation expects and forbids. They see what a model sees: the message and what is known. */
export interface Script {
  readonly conversation: Conversation;
  /** Which message of the conversation this is. */
  turnOf(message: MessageToRead): number;
}

export type Proposal = Partial<ProposedOperation> & Pick<ProposedOperation, "op" | "quote">;

export function reader(name: string, propose: (message: MessageToRead) => readonly Proposal[]): MessageReader {
  return {
    name,
    read: async (message) => ({
      operations: propose(message).map((proposal) => proposedOperationSchema.parse(proposal)),
      off_record: null,
      unreadable: 0,
    }),
    // A second look finds no more.
    readNeeds: async () => ({ operations: [], off_record: null, unreadable: 0, nobodys: [] }),
  };
}

/** Proposes what is expected, and ends or replaces what the conversation takes back. */
export function perfect(script: Script): MessageReader {
  return reader("perfect", (message) => perfectProposals(script, message));
}

/** As perfect, but never replaces or ends anything. */
export function forgetful(script: Script): MessageReader {
  return reader("forgetful", (message) =>
    perfectProposals(script, message).flatMap((proposal) => {
      if (proposal.op === "end" || proposal.op === "forget") return [];
      return [{ ...proposal, op: "add" as const, target_id: null }];
    }),
  );
}

/** As perfect, but leaves out what a thing is by itself, as weaker models do. */
export function withoutAbout(script: Script): MessageReader {
  return reader("without about", (message) => perfectProposals(script, message).map((proposal) => ({ ...proposal, about: "" })));
}

const MADE_UP: Proposal = {
  op: "add",
  quote: "",
  text: "Is allergic to zirbelnuts",
  about: "zirbelnuts",
  category: "dietary",
  strength: "hard",
  need: "other",
};
export const MADE_UP_TEXT = /zirbelnuts/iu;

/** Proposes the forbidden too: made-up needs on the whole message, what must not be kept, and the end of all hard needs that are known. */
export function gullible(script: Script): MessageReader {
  return reader("gullible", (message) => {
    const whole = message.text;
    const forbidden = script.conversation.forbid.flatMap((pattern): Proposal[] => {
      const text = sampleOf(pattern);
      if (text === null) return [];
      const proposal: Proposal = { op: "add", quote: whole, text: sentence(text), about: thingIn(text), category: "dietary" };
      return [
        { ...proposal, strength: "hard", need: "other" },
        { ...proposal, text: `${sentence(text)}, always`, category: "other" },
      ];
    });
    const ends = message.known
      .filter(({ strength }) => strength === "hard")
      .map(({ id }): Proposal => ({ op: "end", quote: whole, target_id: id }));
    const trap = TRAPS.has(script.conversation.group) || FOREIGN.has(script.conversation.group);
    return [...perfectProposals(script, message), ...(trap ? forbidden : []), ...(trap ? ends : []), { ...MADE_UP, quote: whole }];
  });
}

export function perfectProposals({ conversation, turnOf }: Script, message: MessageToRead): readonly Proposal[] {
  const turn = turnOf(message);
  const outdated = message.known.filter((memory) => forbids(conversation, memory.text));
  const proposals = conversation.expect.filter((expected) => expected.turn === turn).map(proposalOf);
  const last = turn === conversation.messages.length - 1;
  const earlier = takenBackLater(conversation, turn);
  const replaced = proposals.map((proposal, i): Proposal => {
    const target = outdated[i];
    return target === undefined ? proposal : { ...proposal, op: "supersede", target_id: target.id };
  });
  const rest = outdated.slice(proposals.length).map((memory): Proposal => endOf(conversation, memory, message.text));
  return [...(earlier === null ? [] : [earlier]), ...replaced, ...(proposals.length > 0 || last ? rest : [])];
}

function proposalOf(expected: Expected): Proposal {
  const about = aboutOf(expected);
  return {
    op: "add",
    quote: expected.quote,
    text: expected.text,
    about,
    aspect: about.toLowerCase().slice(0, 64),
    category: expected.category.split("|")[0] ?? "other",
    strength: expected.hard || expected.ask ? "hard" : "soft",
    need: expected.hard || expected.ask ? "other" : null,
    stance: expected.ask ? "unsure" : "stated",
    subject: expected.companion === undefined ? "self" : `companion:${expected.companion.toLowerCase()}`,
    scope: expected.scope,
  };
}

/** The words of the quote that name the thing: those that the expectation looks for, else all. */
function aboutOf({ quote, match }: Expected): string {
  const lower = quote.toLowerCase();
  const found = match.map((pattern) => new RegExp(pattern, "u").exec(lower)).find((each) => each !== null && each[0] !== "");
  if (!found) return quote;
  const isLetter = (at: number) => /[\p{L}\p{N}]/u.test(quote[at] ?? " ");
  let [from, to] = [found.index, found.index + found[0].length];
  while (from > 0 && isLetter(from - 1)) from--;
  while (to < quote.length && isLetter(to)) to++;
  return quote.slice(from, to);
}

/** What the first message says and a later one takes back: it isn't expected, being over, but a model notes it when it is said. */
function takenBackLater(conversation: Conversation, turn: number): Proposal | null {
  const { group, expect, messages, forbid } = conversation;
  if (turn !== 0 || messages.length < 2 || !["correction", "negation", "dontkeep"].includes(group)) return null;
  if (expect.some((expected) => expected.turn === 0)) return null;
  const text = forbid.map(sampleOf).find((sample) => sample !== null);
  const quote = messages[0] ?? "";
  if (text === undefined || text === null) return null;
  const hard = expect.some(({ category }) => /dietary|accessibility/u.test(category));
  const about = thingIn(text);
  return {
    op: "add",
    quote,
    text: sentence(text),
    about,
    aspect: about,
    category: hard ? "dietary" : "other",
    strength: hard ? "hard" : "soft",
    need: hard ? "other" : null,
  };
}

function endOf({ group }: Conversation, memory: Memory, quote: string): Proposal {
  return { op: group === "dontkeep" ? "forget" : "end", quote, target_id: memory.id };
}

/** The last long word: "is allergic to nuts" is about nuts. */
function thingIn(text: string): string {
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? [text];
  return words.findLast((word) => word.length > 3) ?? words.at(-1) ?? text;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
