import { type Category, categoryOf } from "../../domain/categories.js";
import { folded } from "../../domain/folded-text.js";
import { type Statement, statementSchema } from "../../domain/memory.js";
import type { Need } from "../../ports/agent.js";
import type { MessageToRead, ProposedOperation } from "../../ports/extraction.js";
import { knownNeed, nearestCategory } from "./category-and-need.js";
import { validFrom, validUntil } from "./said-dates.js";

const MAX_LIST = 12;
const MAX_ITEM_CHARS = 64;
const MAX_TEXT_CHARS = 500;

/** What would end a line or a block where a memory is shown. */
const UNSAFE = /[\p{Cc}\u2028\u2029<>{}[\]|`\\]/gu;

/** A proposal's statement, made fit to be kept: one line, of the table's categories and the domain's needs. Null where it says nothing. */
export function statementOf(
  proposal: ProposedOperation,
  text: string,
  message: MessageToRead,
  options: { readonly categories: readonly Category[]; readonly needs: readonly Need[] },
): Statement | null {
  const { categories, needs } = options;
  const line = oneLine(text, MAX_TEXT_CHARS);
  if (!/[\p{L}\p{N}]/u.test(line)) return null;
  const category = nearestCategory(proposal.category, categories);
  const need = knownNeed(proposal.need, needs);
  const hard = isHard(proposal, options);
  const table = categoryOf(categories, category);
  const from = validFrom(proposal.valid_from, message.time_zone);
  const until = validUntil(proposal.valid_until, from === null ? message.stated_at : new Date(from), message.time_zone);
  const subject = oneLine(proposal.subject, "companion:".length + MAX_ITEM_CHARS).replace(/^companion:\s+/u, "companion:");
  const parsed = statementSchema.safeParse({
    text: line,
    category,
    aspect: oneLine(proposal.aspect, MAX_ITEM_CHARS).toLowerCase(),
    condition: oneLine(proposal.condition, 120),
    about: oneLine(proposal.about, 200),
    need: hard ? (need ?? "other") : null,
    type: isAhead([from, until], message.stated_at) && proposal.type === "episodic" ? "fact" : typeOf(proposal, hard, table),
    strength: hard ? "hard" : "soft",
    subject: /^companion:./u.test(subject) ? subject : "self",
    scope: proposal.scope,
    valid_from: from,
    valid_until: until,
    confidence: proposal.confidence,
    explicit: proposal.explicit,
    entities: listOf(proposal.entities).filter((entity) => folded(message.text).includes(folded(entity))),
    tags: listOf(proposal.tags),
  });
  return parsed.success ? parsed.data : null;
}

/**
 * What the model calls hard, and what is one of the domain's needs, whatever it is called but by its category; of what must hold by its
 * kind, any need.
 */
export function isHard(
  proposal: Pick<ProposedOperation, "strength" | "need" | "type" | "category">,
  { categories, needs }: { readonly categories: readonly Category[]; readonly needs: readonly Need[] },
): boolean {
  if (proposal.strength === "hard") return true;
  if (proposal.need === null) return false;
  if (knownNeed(proposal.need, needs) !== null && !isOnlyItsCategory(proposal.need, needs)) return true;
  return proposal.type === "constraint" || categoryOf(categories, nearestCategory(proposal.category, categories))?.strength === "hard";
}

/** A limit that is called by its category, as "budget": that tells what it is about, not that it must hold. */
function isOnlyItsCategory(said: string, needs: readonly Need[]): boolean {
  const named = needs.find(({ name }) => name === knownNeed(said, needs));
  const isLimit = named?.kind === "at_most" || named?.kind === "at_least";
  return isLimit && named.category !== undefined && folded(said) === folded(named.category) && folded(said) !== folded(named.name);
}

function typeOf(proposal: ProposedOperation, hard: boolean, category: Category | undefined): Statement["type"] {
  if (proposal.type !== null && !(hard && proposal.type === "preference")) return proposal.type;
  if (hard) return "constraint";
  return category === undefined || category.type === "constraint" ? "preference" : category.type;
}

/** A trip to come is no event of the past: as one it would not be told. */
function isAhead(days: readonly (string | null)[], now: Date): boolean {
  return days.some((day) => day !== null && Date.parse(day) > now.getTime());
}

function oneLine(text: string, chars: number): string {
  return text
    .slice(0, chars * 2)
    .replace(UNSAFE, " ")
    .replace(/\s+/gu, " ")
    .trim()
    .slice(0, chars)
    .trim();
}

function listOf(items: readonly string[]): string[] {
  const clean = items.slice(0, MAX_LIST).map((item) => oneLine(item, MAX_ITEM_CHARS));
  return [...new Set(clean.filter((item) => item !== ""))];
}

/** All words of a proposal but its quote. */
export function wordsIn(proposal: ProposedOperation): string {
  const { text, about, aspect, condition, subject, entities, tags } = proposal;
  // No more of each than is kept.
  const parts = [text.slice(0, 500), ...[about, aspect, condition, subject, ...entities.slice(0, 12), ...tags.slice(0, 12)].map(clip)];
  return parts.join(" | ");
}

function clip(text: string): string {
  return text.slice(0, 200);
}

/** Who and what it is about. */
export function thingOf({ subject, about, text }: ProposedOperation): string {
  return `${folded(subject)}|${folded(about.trim() === "" ? text : about)}`;
}
