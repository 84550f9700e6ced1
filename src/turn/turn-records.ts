import { daysFrom } from "../domain/lifecycle.js";
import type { JsonObject, MessageMetadata, MessageRecord, NewRecord, Suspended } from "../domain/session.js";
import { titleFrom } from "../domain/title.js";
import { type TokensByTask, totalCost } from "../domain/tokens.js";
import { AppError, type ErrorCode } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import type { TurnRequest } from "./images.js";
import type { StreamedAnswer } from "./streamed-answer.js";

/** The journal records of a turn that need nothing but the request. */

/** How long an incognito session is kept. */
const INCOGNITO_DAYS = 1;

export function sessionRecord(
  { owner, externalId }: Pick<TurnRequest, "owner" | "externalId">,
  agentType: string,
  metadata: JsonObject,
  now: Date,
): NewRecord {
  const expires = metadata.incognito === true ? { expires_at: daysFrom(now, INCOGNITO_DAYS) } : {};
  const body = { owner, external_id: externalId ?? null, metadata, agent_type: agentType, ...expires };
  return { type: "session", id: newId(), turn: 0, at: now.toISOString(), body };
}

export function derivedTitle(message: string, now: Date): NewRecord {
  return { type: "session_patch", id: newId(), turn: 0, at: now.toISOString(), body: { title: titleFrom(message), by: "derived" } };
}

/** Takes the last user message back, where the request replaces it. @throws EDIT_NOT_LAST for any other message */
export function rewindFor(request: TurnRequest, last: MessageRecord | null, turn: number, now: Date): NewRecord[] {
  if (request.editOf === undefined) return [];
  if (!last || last.id !== request.editOf) throw new AppError("EDIT_NOT_LAST");
  return [{ type: "rewind", id: newId(), turn, at: now.toISOString(), body: { to_seq: last.seq - 1, to_offset: 0 } }];
}

export function userRecord(
  request: TurnRequest,
  message: { readonly id: string; readonly turn: number; readonly now: Date; readonly incognito: boolean; readonly timeZone: string },
): NewRecord {
  const { idempotency, pageContext, editOf } = request;
  return {
    type: "message",
    id: message.id,
    turn: message.turn,
    at: message.now.toISOString(),
    body: {
      role: "user",
      content: request.message,
      channel: request.channel ?? "api",
      remember: !message.incognito,
      ...(message.incognito && { incognito: true }),
      time_zone: message.timeZone,
      ...(pageContext !== undefined && { page_context: pageContext }),
      ...(request.images.length > 0 && { images: request.images.map(({ kept }) => kept) }),
      ...(editOf !== undefined && { edit_of: editOf }),
      ...(idempotency && { idempotency: { key: idempotency.key, request_hash: idempotency.requestHash } }),
    },
  };
}

/** How a turn without an answer ended: with what was streamed of it, and why. */
export function failureRecord(
  request: TurnRequest,
  turn: number,
  now: Date,
  outcome: {
    readonly interrupted: boolean;
    readonly code: ErrorCode;
    readonly streamed: StreamedAnswer;
    /** Of a turn that went on: it may be gone on with again. */
    readonly suspended: Suspended | undefined;
    /** What it cost all the same. */
    readonly tokens: TokensByTask;
  },
): NewRecord {
  return {
    type: "message",
    id: newId(),
    turn,
    at: now.toISOString(),
    body: {
      role: "assistant",
      content: outcome.streamed.content,
      ...outcome.streamed.shown,
      channel: request.channel ?? "api",
      outcome: outcome.interrupted ? "interrupted" : "failed",
      error_code: outcome.code,
      ...(Object.keys(outcome.tokens).length > 0 && { metadata: { tokens: messageTokens(outcome.tokens) } }),
      ...(outcome.suspended && { suspended: outcome.suspended }),
    },
  };
}

/** As a message tells it: the calls of the chat's model, and each task. */
function messageTokens(spent: TokensByTask): NonNullable<MessageMetadata["tokens"]> {
  const { chat, extraction, embeddings } = spent;
  const { calls, input, cached, output } = chat ?? { calls: 0, input: 0, cached: 0, output: 0 };
  return {
    input_tokens: input,
    cached_tokens: cached,
    output_tokens: output,
    calls,
    ...(chat && { chat }),
    ...(extraction && { extraction }),
    ...(embeddings && { embeddings }),
    cost: totalCost(spent),
  };
}
