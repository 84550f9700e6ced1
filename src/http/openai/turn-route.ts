import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { answerPartsSchema } from "../../domain/session.js";
import { type ErrorCode, isAppError } from "../../platform/errors.js";
import type { Application } from "../../ports/application.js";
import { type ChatAnswer, elementSchema, turnMemorySchema } from "../../ports/resources.js";
import { OF_A_TURN } from "../chat.js";
import { noteKept, type StreamForm, type Streaming, streamTurn } from "../chat-stream.js";
import { idField } from "../fields.js";
import type { HttpEnv } from "../http-env.js";
import { answersAs } from "../routes.js";
import { type Asked, runTurn, sessionNotFound, TOOLS_HEADER, type TurnParts } from "./conversation.js";
import { openAiErrorSchema } from "./errors.js";

export interface OpenAiParts extends TurnParts, Streaming {
  readonly application: TurnParts["application"] & Pick<Application, "modelOf">;
}

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

/** What OpenAI's formats have no place for, beside them. */
export const besideSchema = z
  .object({ parts: answerPartsSchema, elements: z.array(elementSchema), memory: turnMemorySchema })
  .openapi("BesideAnswer", { description: "What this format has no place for: see `ChatAnswer`." });

export function besideOf({ parts, elements, memory }: ChatAnswer): z.output<typeof besideSchema> {
  return { parts: [...parts], elements: [...elements], memory } as z.output<typeof besideSchema>;
}

/** What the routes of OpenAI's APIs have in common in `/openapi.json`. */

export const turnHeaders = z.object({
  "X-Session-Id": idField.optional().openapi({ description: "The session. Default: the one that the conversation goes on with." }),
  [TOOLS_HEADER]: z
    .enum(["none", "domain"])
    .optional()
    .openapi({ description: "`domain`: the assistant's own tools are offered too, and run here. Default: as MAITRED_TOOLS says." }),
});

export const openAiErrors = () => ({ "application/json": { schema: openAiErrorSchema } });

export function openAiAnswers(schema: z.ZodType, description: string): ReturnType<typeof answersAs> {
  return answersAs({ "application/json": schema, "text/event-stream": z.string() }, description, ["X-Session-Id", "X-Memory-Status"]);
}

/** What may refuse a turn that comes as OpenAI's clients send it. */
export const OF_A_CLIENTS_TURN: readonly ErrorCode[] = [...OF_A_TURN, "TOOL_CALL_NOT_WAITING", "INVALID_ID"];
