import type { Memory } from "../../domain/memory.js";
import { normalised } from "../../domain/normalised-text.js";
import type { MessageToRead, ProposedOperation } from "../../ports/extraction.js";
import { Companions, nameOf } from "../companions.js";

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
    type,
    need: proposal.need ?? target.need,
    about: proposal.about.trim() === "" ? target.about : proposal.about,
  };
}
