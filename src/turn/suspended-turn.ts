import type { Owner } from "../domain/owner.js";
import { type CompletedTurn, isCompleted, recordedTurn } from "../domain/recorded-turn.js";
import type { JournalRecord, MessageRecord, Step, Suspended } from "../domain/session.js";
import { AppError } from "../platform/errors.js";
import type { AgentInput, AgentRun } from "../ports/agent.js";
import type { CallResult, ChatRequest } from "../ports/application.js";
import type { ModelImage, ModelToolCall } from "../ports/chat-model.js";
import type { ImageStore } from "../ports/image-store.js";
import type { ChatAnswer } from "../ports/resources.js";
import { answerFrom } from "./answer.js";
import { stepMessages } from "./context.js";
import type { TurnImage } from "./images.js";

/** A turn that goes on: as it was suspended, and its steps with the results that came. */
export interface ResumedTurn {
  readonly suspended: Suspended;
  readonly steps: readonly Step[];
}

/**
 * What the session's last turn is to a caller that brings results: one that goes on with them, or one that has gone on with them already.
 * @throws TOOL_CALL_NOT_WAITING
 */
export async function turnToResume(
  records: AsyncIterable<JournalRecord>,
  results: readonly CallResult[],
): Promise<{ readonly user: MessageRecord } & ({ readonly resumed: ResumedTurn } | { readonly answered: CompletedTurn })> {
  const last: JournalRecord[] = [];
  for await (const record of records) {
    if (record.type === "message" && record.body.role === "user") last.length = 0;
    last.push(record);
  }
  const turn = recordedTurn(last, last[0]?.turn ?? 0);
  if (turn === null) throw new AppError("TOOL_CALL_NOT_WAITING");
  const given = new Map(results.map(({ callId, output }) => [callId, output]));
  if (isCompleted(turn)) {
    if (!results.every(({ callId }) => turn.steps.some(({ call_id }) => call_id === callId))) throw new AppError("TOOL_CALL_NOT_WAITING");
    return { user: turn.user, answered: turn };
  }
  const suspended = turn.assistant?.body.suspended;
  if (suspended === undefined || given.size !== suspended.calls.length || !suspended.calls.every((id) => given.has(id)))
    throw new AppError("TOOL_CALL_NOT_WAITING");
  const steps = suspended.steps.map((step) => ({ ...step, output: given.get(step.call_id) ?? step.output }));
  return { user: turn.user, resumed: { suspended, steps } };
}

const NOTHING: Pick<Suspended, "steps" | "calls"> = { steps: [], calls: [] };

/** The answer of a turn that waits, as its caller is given it: the calls that are its own are no steps of it yet. */
export function waitingAnswer(sessionId: string, assistant: MessageRecord): ChatAnswer {
  const { steps, calls } = assistant.body.suspended ?? NOTHING;
  const answer = answerFrom(sessionId, { assistant, steps: steps.filter(({ call_id }) => !calls.includes(call_id)) });
  return { ...answer, calls: steps.filter(({ call_id }) => calls.includes(call_id)).map(callOf) };
}

/** Arguments that were no JSON are kept as the text that they were. */
function callOf({ call_id: id, name, input }: Step): ModelToolCall {
  return { id, name, arguments: typeof input === "string" ? input : JSON.stringify(input) };
}

/** The images of a message that is in the journal. One that is not there any more is left out. */
export async function imagesOf(store: Pick<ImageStore, "get">, owner: Owner, sessionId: string, user: MessageRecord): Promise<TurnImage[]> {
  const images: TurnImage[] = [];
  for (const kept of user.body.images ?? []) {
    const shown = await shownAs(kept, () => store.get(owner, sessionId, kept.id));
    if (shown !== null) images.push({ kept, shown });
  }
  return images;
}

async function shownAs(
  { url, media_type: mediaType }: TurnImage["kept"],
  read: () => Promise<Uint8Array | null>,
): Promise<ModelImage | null> {
  if (url !== undefined) return { url };
  const data = await read();
  return data === null || mediaType === null ? null : { data, mediaType };
}

/** What the agent is given where the caller has tools of its own, or wants none of the domain's, and where the turn has waited. */
export function goingOn(
  { tools, domainTools = true }: Pick<ChatRequest, "tools" | "domainTools">,
  ofDomain: ReadonlySet<string> | undefined,
  resumed: ResumedTurn | null,
  input: AgentInput,
): { readonly input: AgentInput } & Pick<AgentRun, "tools" | "without" | "done"> {
  const offered = { ...(tools !== undefined && { tools }), ...(!domainTools && ofDomain !== undefined && { without: ofDomain }) };
  if (resumed === null) return { input, ...offered };
  const { elements, sources, used = [] } = resumed.suspended;
  const messages = [...input.messages, ...stepMessages(resumed.steps)];
  return { input: { ...input, messages }, ...offered, done: { steps: resumed.steps, elements, sources, used } };
}
