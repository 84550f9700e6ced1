import type { Context } from "hono";
import type { Owner } from "../../domain/owner.js";
import { isAppError } from "../../platform/errors.js";
import type { ChatAnswer } from "../../ports/resources.js";
import { noteKept, type StreamForm, type StreamLimits, streamTurn } from "../chat-stream.js";
import type { HttpEnv } from "../http-env.js";
import type { OpenStreams } from "../streams.js";
import { type Asked, runTurn, sessionNotFound, type TurnParts } from "./conversation.js";

/** What the routes of OpenAI's APIs stand on. */
export interface OpenAiParts extends TurnParts {
  readonly streams: OpenStreams;
  readonly limits: StreamLimits;
  /** Of a user's model, until it is known who answered. */
  readonly modelName: (owner: Owner) => string;
}

/** How a turn is answered. */
interface Answering {
  /** Null: as one value. */
  readonly form: StreamForm | null;
  readonly whole: (answer: ChatAnswer) => object;
  /** Where the body names the session, as a JSON Pointer. Default: it names none. */
  readonly namedAt?: string | undefined;
}

/**
 * A turn, streamed in a form or as one JSON value. `X-Session-Id` and `X-Memory-Status` tell what OpenAI has no field for. Its
 * clients accept `application/json` whatever they ask for: the body alone says whether it is streamed.
 */
export async function answerTurn(
  c: Context<HttpEnv>,
  { streams, limits, ...parts }: OpenAiParts,
  asked: Asked,
  how: Answering,
): Promise<Response> {
  const run = (options: Parameters<typeof runTurn>[3]) =>
    runTurn(c, parts, asked, options).catch((error: unknown) => {
      throw how.namedAt !== undefined && isAppError(error, "SESSION_NOT_FOUND") ? sessionNotFound(how.namedAt, error) : error;
    });
  if (how.form !== null) {
    const form = { ...how.form, headers: (sessionId: string) => ({ "X-Session-Id": sessionId }) };
    return streamTurn(c, run, { leave: streams.enter(c.get("owner")), limits, form });
  }
  const answer = await run({ signal: c.req.raw.signal, onEvent: noteKept(c) });
  c.header("X-Session-Id", answer.session_id);
  c.header("X-Memory-Status", answer.memory.status);
  return c.json(how.whole(answer));
}

/** Unix seconds. */
export function secondsOf(at: string | Date): number {
  return Math.floor(new Date(at).getTime() / 1000);
}
