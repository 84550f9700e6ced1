import type { Memory, NewStatement } from "../domain/memory.js";
import type { Owner } from "../domain/owner.js";
import { type AppError, isAppError } from "../platform/errors.js";
import type { AddedMemory, Memories } from "../ports/memories.js";
import type { StatementKey } from "./stated-once.js";

type At = Omit<Parameters<Memories["addAll"]>[2], "request">;
type Add = (owner: Owner, said: NewStatement, options: At & { readonly request?: StatementKey }) => Promise<Memory>;

/** Many statements by hand, one after another: each is a change of its own. As the port's `addAll`. */
export async function addAll(
  add: Add,
  owner: Owner,
  statements: readonly NewStatement[],
  { request, ...at }: Parameters<Memories["addAll"]>[2],
): Promise<readonly AddedMemory[]> {
  const outcomes: AddedMemory[] = [];
  let broken: AppError | null = null;
  let replayed = 0;
  const onReplay = () => {
    replayed += 1;
  };
  for (const [place, statement] of statements.entries()) {
    if (broken !== null) {
      outcomes.push({ error: broken });
      continue;
    }
    try {
      outcomes.push({ memory: await add(owner, statement, { ...at, ...(request && { request: { ...request, place, onReplay } }) }) });
    } catch (error) {
      if (!isAppError(error)) throw error;
      if (!isOfItself(error)) {
        if (!outcomes.some((outcome) => "memory" in outcome)) throw error;
        broken = error;
      }
      outcomes.push({ error });
    }
  }
  const kept = outcomes.filter((outcome) => "memory" in outcome).length;
  if (replayed > 0 && replayed === kept && broken === null) request?.onReplay?.();
  return outcomes;
}

/** Whether it is the statement that is wrong. */
function isOfItself({ code }: AppError): boolean {
  return code === "INVALID_REQUEST" || code === "MEMORY_REFUSED";
}
