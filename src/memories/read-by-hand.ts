import { type CategoriesOf, type Category, categoryOf } from "../domain/categories.js";
import type { NewStatement, Statement } from "../domain/memory.js";
import type { Owner } from "../domain/owner.js";
import { boundedSignal } from "../platform/bounded-signal.js";
import { AppError, isAppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import type { Logger } from "../platform/logger.js";
import type { ReadMessage } from "./read-message.js";
import { nearestCategory } from "./spelling.js";
import { byHand } from "./stated-by-hand.js";

export interface ReadByHandParts {
  readonly readMessage: ReadMessage;
  /** Reads what that reader fails to read, or sees nothing in: what must hold is not to be lost by it. Default: nobody does. */
  readonly readPlainly?: ReadMessage | null;
  /** Asked before a reader is. Throws where nothing may be read. */
  readonly mayRead?: (owner: Owner) => Promise<void>;
  readonly categoriesOf: CategoriesOf;
  readonly logger: Logger;
}

/** How long a reader may take over statements by hand, in milliseconds. */
const MAX_READ_MS = 10_000;
/** Statements that are read at the same time. */
const AT_ONCE = 4;

/**
 * Says what statements by hand are that name no category, or no need although they must hold: "allergic to nuts" is `no_nuts`, whoever adds
 * it. The words stay as they were given, and so does all that was said of them. Where nobody can tell, or in time, they stay as they came,
 * and `other`. In their order.
 */
export async function readByHand<S extends NewStatement>(
  parts: ReadByHandParts,
  owner: Owner,
  given: readonly S[],
  at: { readonly now: Date; readonly timeZone?: string },
): Promise<readonly S[]> {
  const read = [...given];
  const bound = boundedSignal([], MAX_READ_MS);
  const categories = parts.categoriesOf(owner);
  const unnamed = [...given.entries()].filter(([, said]) => isUntold(said, categories)).values();
  const work = async () => {
    for (const [place, said] of unnamed) read[place] = { category: "other", ...(await meantBy(said)), ...toldOf(said, categories) };
  };
  const meantBy = async (said: NewStatement) => {
    try {
      bound.signal.throwIfAborted();
      // What can't be stored is read by nobody.
      byHand(said, categories);
      await parts.mayRead?.(owner);
      return (await meant(parts.readMessage, owner, said.text, at, bound.signal)) ?? (await plainly(said));
    } catch (error) {
      const code = isAppError(error) ? error.code : "INTERNAL";
      if (code === "INVALID_REQUEST" || code === "MEMORY_REFUSED") return {};
      parts.logger.warn({ code, ...(code === "INTERNAL" && { err: error }) }, "a memory by hand was kept without its reader");
      return plainly(said);
    }
  };
  /** Of what is seen so plainly only a need counts. */
  const plainly = async (said: NewStatement): Promise<Meant> => {
    if (!parts.readPlainly) return {};
    const seen = await meant(parts.readPlainly, owner, said.text, at, new AbortController().signal).catch(() => null);
    return seen?.strength === "hard" ? seen : {};
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    bound.end();
  }
  return read;
}

type Meant = Partial<Pick<Statement, "category" | "strength" | "need" | "about" | "subject">>;

/** Of more than one thing the one that must hold. Null where nothing was seen. */
async function meant(
  readMessage: ReadMessage,
  owner: Owner,
  text: string,
  { now, timeZone = "UTC" }: { readonly now: Date; readonly timeZone?: string },
  signal: AbortSignal,
): Promise<Meant | null> {
  const message = { owner, session_id: newId(), turn: 1, message_id: newId(), text, stated_at: now, time_zone: timeZone };
  const { operations, unread } = await readMessage({ ...message, context: [], known: [] }, signal);
  if (unread !== undefined) throw unread.error;
  if (signal.aborted) throw new AppError("ABORTED", { cause: signal.reason });
  const statements = operations.flatMap(({ statement }) => (statement === null ? [] : [statement]));
  const said = statements.find(({ strength }) => strength === "hard") ?? statements[0];
  if (said === undefined) return null;
  const { category, strength, need, about, subject } = said;
  return { category, strength, need, about, subject };
}

/** Its category is none of the table's, or it must hold and nobody says which of the needs it is. */
function isUntold(said: NewStatement, categories: readonly Category[]): boolean {
  const { category: name } = said;
  if (isNoneOf(name, categories)) return true;
  const category = typeof name === "string" ? categoryOf(categories, nearestCategory(name, categories) ?? "") : undefined;
  return (said.strength ?? category?.strength) === "hard" && (said.need ?? null) === null;
}

/** What is no text is refused elsewhere. */
function isNoneOf(name: unknown, categories: readonly Category[]): boolean {
  return name === undefined || (typeof name === "string" && nearestCategory(name, categories) === undefined);
}

/** What was said of a statement, without what says nothing. */
function toldOf<S extends NewStatement>(said: S, categories: readonly Category[]): S {
  const isTold = ([name, value]: [string, unknown]) =>
    value !== undefined && (name !== "need" || value !== null) && (name !== "category" || !isNoneOf(value, categories));
  return Object.fromEntries(Object.entries(said).filter(isTold)) as S;
}
