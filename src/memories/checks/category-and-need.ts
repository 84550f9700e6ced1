import { type Category, categoryOf } from "../../domain/categories.js";
import { isFormOf, wordsOf } from "../../domain/compared-words.js";
import { folded, normalised } from "../../domain/folded-text.js";
import type { Memory } from "../../domain/memory.js";
import { editDistance } from "../../platform/nearest-name.js";
import type { Need } from "../../ports/agent.js";
import type { MessageToRead, ProposedOperation } from "../../ports/extraction.js";
import { Companions, nameOf } from "../companions.js";

/** The category of the table that is meant: by its name, a misspelling of it, or the words of its description. Else `other`. */
export function nearestCategory(said: string, categories: readonly Category[]): string {
  const name = folded(said.slice(0, 64));
  const exact = categories.find((category) => folded(category.name) === name) ?? categories.find(({ name: other }) => isNear(name, other));
  if (exact !== undefined) return exact.name;
  const words = wordsOf(name).map((word) => word.text);
  const described = categories.find(
    (category) => words.length > 0 && wordsOf(category.description).some((word) => words.some((one) => isFormOf(word.text, one))),
  );
  return (described ?? categoryOf(categories, "other") ?? categories[0])?.name ?? "other";
}

function isNear(said: string, name: string): boolean {
  const wanted = folded(name);
  if (said.length < 4) return false;
  return editDistance(said, wanted, 2) <= 2 || wordsOf(said).some((word) => isFormOf(word.text, wanted));
}

/** The domain's need that is meant: by its name, another spelling of the domain's table, or a slip of a letter. Null where it is none. */
export function knownNeed(said: string | null, needs: readonly Need[]): string | null {
  if (said === null) return null;
  const name = folded(said.slice(0, 64));
  const names = spellingsOf(needs);
  const exact = names.get(name);
  if (exact !== undefined || name.length < MIN_SLIP_LETTERS) return exact ?? null;
  for (const [spelling, need] of names) if (isSlip(name, spelling)) return need;
  return null;
}

/** Folded once for a domain: they are asked for again and again. */
const FOLDED = new WeakMap<readonly Need[], ReadonlyMap<string, string>>();

/** Spelling → the need's name; a need's own name before what others are also called. */
function spellingsOf(needs: readonly Need[]): ReadonlyMap<string, string> {
  const known = FOLDED.get(needs);
  if (known !== undefined) return known;
  const also = needs.flatMap(({ name, spellings = [] }) => spellings.map((spelling) => [folded(spelling), name] as const));
  const names = new Map([...also, ...needs.map(({ name }) => [folded(name), name] as const)]);
  FOLDED.set(needs, names);
  return names;
}

/** In a short name a letter makes another word. */
const MIN_SLIP_LETTERS = 8;

function isSlip(said: string, spelling: string): boolean {
  return said[0] === spelling[0] && editDistance(said, spelling, 1) <= 1;
}

/**
 * Whether a proposal is of another person than the memory that it names: what holds of the one ends nothing of the other. A name that
 * neither the message nor what is known holds is only another word of the model's.
 */
export function isOfAnother(
  { subject }: Pick<ProposedOperation, "subject">,
  target: Memory,
  { known, text }: Pick<MessageToRead, "known" | "text">,
): boolean {
  if (subject === target.subject) return false;
  const [name, other] = [normalised(nameOf(subject) ?? ""), normalised(nameOf(target.subject) ?? "")];
  // A need that was put down to the guest, while its own words tell whose it is.
  if (other === "" && ` ${normalised(`${target.source?.quote ?? ""} ${target.text}`)} `.includes(` ${name} `)) return false;
  if (name === "" || other === "") return name !== other;
  if (name === other || !(` ${normalised(text)} `.includes(` ${name} `) || known.some((memory) => memory.subject === subject)))
    return false;
  // Of a need that says no name, the names that others of the same subject say.
  const same = target.entities.length > 0 ? [target] : known.filter((memory) => memory.subject === target.subject);
  const called = same.flatMap(({ entities }) => entities.map(normalised));
  return !called.includes(name) && !new Companions(known).same(subject, target.subject);
}

/** What waits because it was doubted; not what was brought along, or only inferred. */
export function isDoubted({ status, reason }: Memory): boolean {
  return status === "review" && reason !== "brought_along" && reason !== "inferred" && reason !== "instruction";
}

/** A confirmation as a statement of the same need: of somebody else, or in words of its own. */
export function asTheirOwn(proposal: ProposedOperation, target: Memory): ProposedOperation {
  const { strength, category, aspect, type } = target;
  return {
    ...proposal,
    strength,
    category,
    aspect,
    type: type === "narrative" ? null : type,
    need: proposal.need ?? target.need,
    about: proposal.about.trim() === "" ? target.about : proposal.about,
  };
}
