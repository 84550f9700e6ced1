import { partsOf } from "../domain/answer-part.js";
import { isBlankFailure } from "../domain/recorded-turn.js";
import type { AnswerPart, JournalRecord, MessageRecord, Session } from "../domain/session.js";
import type { Thread } from "../ports/application.js";
import type { ChatAnswer, ThreadElement, ThreadStep } from "../ports/resources.js";

type TurnMemory = ChatAnswer["memory"];

/**
 * Everything that a client needs to show a session again as it was: messages and tool calls in order, and the elements that the
 * answers showed, each with the message under which it stood. One that an answer showed more than once is there once for it, as it
 * was shown last; one that several answers showed is there for each of them. `forgotten`: ids of memories that are told no more.
 */
export async function threadOf(
  session: Session,
  records: AsyncIterable<JournalRecord>,
  forgotten: ReadonlySet<string> = new Set(),
): Promise<Thread> {
  const steps: ThreadStep[] = [];
  const elements: ThreadElement[] = [];
  for await (const record of records) {
    const step = threadStep(record, forgotten);
    if (step) steps.push(step);
    if (record.type !== "message") continue;
    const shown = new Map(record.body.elements?.map((element) => [element.id, { ...element, for_id: record.id }]));
    elements.push(...shown.values());
  }
  return { session, steps, elements };
}

function threadStep(record: JournalRecord, forgotten: ReadonlySet<string>): ThreadStep | null {
  if (record.type === "step") {
    const { id, name, input, output, error, started_at } = record.body;
    return { id, type: "tool_call", name, input, output: error === null ? output : { error }, created_at: started_at };
  }
  if (record.type !== "message" || isBlankFailure(record)) return null;
  const { role, content, name } = record.body;
  return {
    id: record.id,
    type: role === "user" ? "user_message" : "assistant_message",
    // A thread knows two kinds of message; a system line is told apart by its name.
    ...(role === "system" ? { name: name ?? "system" } : name === null ? {} : { name }),
    output: content,
    created_at: record.at,
    ...(record.body.images !== undefined && { images: record.body.images }),
    ...(record.body.outcome !== undefined && record.body.outcome !== "completed" && { outcome: record.body.outcome }),
    ...(role === "assistant" && { parts: partsIn(record, forgotten) }),
    ...(record.body.memory !== undefined && { memory: stillTold(record.body.memory, forgotten) }),
  };
}

function partsIn({ body }: MessageRecord, forgotten: ReadonlySet<string>): readonly AnswerPart[] {
  return partsOf({ ...body, toConfirm: body.memory && stillTold(body.memory, forgotten).to_confirm });
}

function stillTold(memory: TurnMemory, forgotten: ReadonlySet<string>): TurnMemory {
  const told = ({ id }: { readonly id: string }) => !forgotten.has(id);
  const { to_confirm, recalled, used } = memory;
  return { ...memory, to_confirm: to_confirm.filter(told), recalled: recalled.filter(told), used: used.filter((id) => !forgotten.has(id)) };
}
