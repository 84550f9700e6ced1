import { LRUCache } from "lru-cache";
import type { Owner } from "../domain/owner.js";
import { isAppError } from "../platform/errors.js";
import type { Chat, ChatEvent } from "../ports/application.js";
import type { Identities } from "../ports/identities.js";
import { byAnyId, type FormerSessionIds } from "../ports/session-names.js";

/**
 * How long "is nobody else" is believed where a turn begins, in milliseconds: far below the 30 days for which a merge's fence refuses
 * whatever the merged user would write.
 */
const BELIEVED_MS = 24 * 60 * 60 * 1000;
const MAX_BELIEVED = 10_000;

interface TurnRequest {
  readonly owner: Owner;
  readonly sessionId?: string;
}
interface TurnOptions {
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: ChatEvent) => void | Promise<void>;
}

/**
 * The door of turns, for owners by any name that they have been known by. A turn costs no look at who its user is: it begins with a write,
 * which is refused where the user has been merged since, and only then is that read.
 */
export function resolvedTurns(chat: Chat, identities: Pick<Identities, "resolve">, former: FormerSessionIds): Chat {
  const unmerged = new LRUCache<Owner, true>({ max: MAX_BELIEVED, ttl: BELIEVED_MS });
  const run = async <R extends TurnRequest, T>(
    request: R,
    options: TurnOptions | undefined,
    turn: (request: R, options?: TurnOptions) => Promise<T>,
  ): Promise<T> => {
    const { owner } = request;
    if (unmerged.has(owner)) {
      let begun = false;
      const onEvent = (event: ChatEvent) => {
        begun = true;
        return options?.onEvent?.(event);
      };
      try {
        return await turn(request, { ...options, onEvent });
      } catch (error) {
        if (begun || !(isAppError(error, "OWNER_ERASED") || isAppError(error, "SESSION_NOT_FOUND"))) throw error;
        unmerged.delete(owner);
      }
    }
    const now = await identities.resolve(owner);
    if (now === owner) unmerged.set(owner, true);
    return byAnyId(former, now, request.sessionId, (sessionId) =>
      turn({ ...request, owner: now, ...(sessionId !== undefined && { sessionId }) }, options),
    );
  };
  return {
    chat: (request, options) => run(request, options, (as, given) => chat.chat(as, given)),
    resume: (request, options) => run(request, options, (as, given) => chat.resume(as, given)),
  };
}
