import type { ExtractionInput, Statement } from "../../long-term.js";
import { type Category, categoryOf } from "../categories.js";

const MAX_LIST = 12;
const MAX_ITEM_CHARS = 64;
/** Dates further ahead are slips of the pen. */
const MAX_VALID_DAYS = 5 * 366;
const DAY_MS = 86_400_000;

/** What an entity or tag may not hold, and what would end a line or a block where a memory is shown. */
const UNSAFE = /[\p{Cc}<>{}[\]|`\\]/gu;

/**
 * A statement made fit to be kept: one line, known category, entities and tags clipped to what was said, a date that is one.
 * Null where nothing is left.
 */
export function fitStatement(
  statement: Statement,
  input: ExtractionInput,
  quote: string,
  categories: readonly Category[],
): Statement | null {
  const text = oneLine(statement.text).slice(0, 500);
  if (!/[\p{L}\p{N}]/u.test(text)) return null;
  const known = categoryOf(categories, statement.category) ?? categoryOf(categories, "other");
  if (known === undefined) return null;
  const validUntil = dateWithin(statement.valid_until, input.stated_at);
  if (validUntil === "past") return null;
  const subject = oneLine(statement.subject).slice(0, 64 + "companion:".length);
  return {
    ...statement,
    text,
    category: known.name,
    aspect: oneLine(statement.aspect).toLowerCase().slice(0, MAX_ITEM_CHARS),
    type: known.strength === "hard" && statement.type === "preference" ? "constraint" : statement.type,
    // What must hold is what the table says, or what the guest called a need; a model's word alone doesn't stop a booking.
    strength: statement.strength === "hard" && known.strength !== "hard" && !NEED.test(quote) ? "soft" : statement.strength,
    subject: subject === "companion:" ? "self" : subject,
    scope: validUntil === null ? statement.scope : "trip",
    valid_until: validUntil,
    entities: clip(statement.entities).filter((entity) => input.text.toLowerCase().includes(entity.toLowerCase())),
    tags: clip(statement.tags),
  };
}

const NEED =
  /(?<!\p{L})(?:need|needs|must|have to|has to|can't|cannot|can not|allerg\p{L}*|unable|brauche?\p{L}*|muss|müssen|kann (?:nicht|kein\p{L}*)|besoin|dois|peux pas|necesit\p{L}*|debo|no puedo|devo|bisogno|non posso)(?!\p{L})/iu;

function oneLine(text: string): string {
  return text.replace(UNSAFE, " ").replace(/\s+/gu, " ").trim();
}

function clip(list: readonly string[]): string[] {
  const clean = list.map((item) => oneLine(item).slice(0, MAX_ITEM_CHARS)).filter((item) => item !== "");
  return [...new Set(clean)].slice(0, MAX_LIST);
}

/** An ISO 8601 time after the statement, or null where there is none that can be used. */
function dateWithin(value: string | null, statedAt: Date): string | null | "past" {
  if (value === null) return null;
  const time = Date.parse(value);
  if (Number.isNaN(time) || time > statedAt.getTime() + MAX_VALID_DAYS * DAY_MS) return null;
  if (time < statedAt.getTime() - DAY_MS) return "past";
  return new Date(time).toISOString();
}
