import type { Element, JsonObject, JsonValue, MessageRecord, NewRecord, Role } from "./session.js";

/** A tool call of the agent that leads the conversation. */
export interface GivenStep {
  readonly name: string;
  readonly input?: JsonValue;
  readonly output?: JsonValue;
  /** What it failed with. Default: it did not. */
  readonly error?: string;
  /** Default 0. */
  readonly duration_ms?: number;
}

/** A message of a conversation that another agent leads. */
export interface GivenMessage {
  readonly role: Role | "tool";
  readonly content: string;
  /** Who spoke; of a tool, its name. */
  readonly name?: string;
  /** ISO 8601. Default: the present; so is what lies in the future. */
  readonly created_at?: string;
  /** The agent's own id: comes back with the message. */
  readonly message_id?: string;
  /** Tool calls before it was said. */
  readonly steps?: readonly GivenStep[];
  readonly elements?: readonly Element[];
  /** Kept, and given back with the message where history finds it. */
  readonly metadata?: JsonObject;
  /** The message as the agent's framework has it. */
  readonly item?: JsonValue;
  /** Of an assistant: it doesn't end what it answers. Default: told by what follows it. */
  readonly interim?: boolean;
}

/** Where the next message of a session stands. */
export interface TurnPosition {
  /** 0 in a session without any. */
  readonly lastTurn: number;
  /** Whether what is not the user's goes on with the last turn. */
  readonly goesOn: boolean;
}

/** By the last turn and the newest user message of a session: what another agent says goes on with a turn that is its own to answer. */
export function positionAfter(lastTurn: number, lastUserMessage: MessageRecord | null): TurnPosition {
  if (lastTurn === 0) return { lastTurn, goesOn: false };
  const isOfLastTurn = lastUserMessage?.turn === lastTurn;
  return { lastTurn, goesOn: isOfLastTurn ? lastUserMessage.body.ingested === true : true };
}

export interface GivenWith {
  readonly position: TurnPosition;
  readonly now: Date;
  readonly channel: string;
  /** False keeps the messages out of long-term memory and history. */
  readonly remember: boolean;
  /** IANA name. */
  readonly timeZone: string;
  /** The id of each message, by its place. */
  readonly idOf: (index: number) => string;
}

/**
 * Messages as a journal has them. A user's message begins a turn; what others say goes on with the turn before it, up to the next user's
 * message. What comes before any user's message, or after a turn that Maitred answered itself, is a turn of its own. The last thing that
 * the assistant says in a turn is its answer; what it said before, beside its tool calls, is kept as said on the way. Pure.
 */
export function givenRecords(messages: readonly GivenMessage[], given: GivenWith): NewRecord[] {
  let { lastTurn: turn, goesOn } = given.position;
  return messages.flatMap((message, index): NewRecord[] => {
    if (message.role === "user" || !goesOn) turn += 1;
    goesOn = true;
    const id = given.idOf(index);
    const at = timeOf(message, given.now);
    const { role, content } = message;
    const steps = (message.steps ?? []).map((step, place) => stepRecord(step, { id: `${id}:${place}`, turn, at, iteration: index }));
    if (role === "tool") {
      const called = { name: message.name ?? "tool", output: content };
      return [...steps, stepRecord(called, { id, turn, at, iteration: index, callId: message.message_id })];
    }
    const interim = message.interim ?? isOnTheWay(messages.slice(index + 1));
    const { channel, remember, timeZone } = given;
    const body = {
      role,
      content,
      name: message.name ?? null,
      channel,
      ingested: true,
      remember,
      time_zone: timeZone,
      ...(role === "assistant" && (interim ? { interim } : { outcome: "completed" as const })),
      ...(message.elements !== undefined && { elements: [...message.elements] }),
      ...(message.message_id !== undefined && { external_id: message.message_id }),
      ...(message.metadata !== undefined && { metadata: { custom: message.metadata } }),
      ...(message.item !== undefined && { item: message.item }),
    };
    return [...steps, { type: "message", id, turn, at, body }];
  });
}

/** Whether the assistant, or a tool that it called, has more to say before the user does. */
function isOnTheWay(following: readonly GivenMessage[]): boolean {
  for (const { role } of following) {
    if (role === "user") return false;
    if (role !== "system") return true;
  }
  return false;
}

function timeOf({ created_at }: GivenMessage, now: Date): string {
  const said = created_at === undefined ? now : new Date(created_at);
  return (said.getTime() > now.getTime() ? now : said).toISOString();
}

function stepRecord(
  { name, input = {}, output = null, error = null, duration_ms = 0 }: Omit<GivenStep, "error"> & { readonly error?: string | null },
  { id, turn, at, iteration, callId = id }: StepPlace,
): NewRecord {
  const body = { id, type: "tool_call" as const, name, call_id: callId, iteration, input, output, error, started_at: at, duration_ms };
  return { type: "step", id, turn, at, body };
}

interface StepPlace {
  readonly id: string;
  readonly turn: number;
  readonly at: string;
  readonly iteration: number;
  readonly callId?: string | undefined;
}
