import type { Owner } from "../domain/owner.js";
import { isAppError } from "../platform/errors.js";
import type { OwnAgent } from "../ports/own-agent.js";

/** Tells what is known of a user: `maitred.ownAgent`. */
export type KnownOfUser = Pick<OwnAgent, "context">;

/**
 * Preferences, memories and what must hold: what a framework's own window doesn't have. By the newest thing that the user said in the
 * session; whatever the subject before its first message. Empty where nothing is known.
 */
export async function knownIn(
  known: KnownOfUser,
  owner: Owner,
  { sessionId, ...limit }: { readonly sessionId: string; readonly maxTokens?: number },
): Promise<string> {
  const request = { owner, include: ["constraints", "profile", "memories"] as const, ...limit };
  try {
    return (await known.context({ ...request, sessionId })).text;
  } catch (error) {
    if (!isAppError(error, "SESSION_NOT_FOUND")) throw error;
    return (await known.context(request)).text;
  }
}
