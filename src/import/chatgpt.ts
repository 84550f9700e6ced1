import { z } from "zod";
import { shortLine } from "../domain/title.js";
import type { ErrorDetail } from "../platform/errors.js";
import { checkLine, type ImportLine, ImportProblems, type LinePlace, MAX_CONTENT_CHARS } from "./import-line.js";

/**
 * Reads the `conversations.json` of a ChatGPT data export: an array of conversations, each a tree of messages. Of each, the branch that
 * was shown last is taken; of its messages those that the user and the assistant wrote, as text. Hidden system messages, tool calls
 * and pictures are left out; so are messages that are too long to keep, which is reported.
 */
const message = z.looseObject({
  id: z.string(),
  author: z.looseObject({ role: z.string(), name: z.string().nullish() }),
  create_time: z.number().nullish(),
  content: z.looseObject({ content_type: z.string(), parts: z.array(z.unknown()).nullish() }),
  metadata: z.looseObject({ is_visually_hidden_from_conversation: z.boolean().nullish() }).nullish(),
});
const conversation = z.looseObject({
  conversation_id: z.string().min(1).nullish(),
  id: z.string().min(1).nullish(),
  title: z.string().nullish(),
  current_node: z.string().nullish(),
  mapping: z.record(z.string(), z.looseObject({ message: message.nullish(), parent: z.string().nullish() })),
});
type Conversation = z.infer<typeof conversation>;
type ChatGptMessage = z.infer<typeof message>;

const TEXT_TYPES = new Set(["text", "multimodal_text"]);

export interface ChatGptImport {
  readonly lines: readonly ImportLine[];
  /** By conversation id. */
  readonly titles: ReadonlyMap<string, string>;
  /** Messages that were left out because they are too long. */
  readonly leftOut: readonly ErrorDetail[];
}

interface Findings {
  readonly now: Date;
  readonly problems: ImportProblems;
  readonly leftOut: ErrorDetail[];
}

/** True for what may be such an export: an array of objects with a mapping. */
export function looksLikeChatGpt(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.every((item) => typeof item === "object" && item !== null && "mapping" in item);
}

/** @throws INVALID_IMPORT naming conversation and message; in pointers a conversation is its number, from 1 */
export function readChatGpt(conversations: readonly unknown[], now: Date): ChatGptImport {
  const findings: Findings = { now, problems: new ImportProblems(), leftOut: [] };
  const titles = new Map<string, string>();
  const lines = conversations.flatMap((value, i) => {
    const read = readConversation(value, i + 1, findings);
    if (read?.title) titles.set(read.id, read.title);
    return read?.lines ?? [];
  });
  findings.problems.throwIfAny();
  return { lines, titles, leftOut: findings.leftOut };
}

/** Reads conversations one by one and keeps nothing of them. @throws INVALID_IMPORT as {@link readChatGpt} */
export async function checkChatGpt(conversations: AsyncIterable<unknown>, now: Date): Promise<void> {
  const findings: Findings = { now, problems: new ImportProblems(), leftOut: [] };
  let number = 0;
  for await (const value of conversations) {
    number += 1;
    readConversation(value, number, findings);
  }
  findings.problems.throwIfAny();
}

function readConversation(value: unknown, number: number, findings: Findings) {
  const parsed = conversation.safeParse(value);
  const id = parsed.data?.conversation_id ?? parsed.data?.id;
  if (!parsed.success || id === null || id === undefined) {
    findings.problems.add(number, "", "is not a conversation of a ChatGPT export", `Conversation ${number}`);
    return null;
  }
  const title = parsed.data.title?.trim() ?? "";
  const where = title === "" ? `Conversation ${shortLine(id)}` : `Conversation “${shortLine(title)}” (${shortLine(id)})`;
  return {
    id,
    title,
    lines: shownBranch(parsed.data).flatMap((said) => lineOf(id, said, { line: number, where, now: findings.now }, findings) ?? []),
  };
}

/** From the root to the current node; a broken or circular tree ends where it breaks. */
function shownBranch({ mapping, current_node }: Conversation): ChatGptMessage[] {
  const branch: ChatGptMessage[] = [];
  const seen = new Set<string>();
  let node = current_node ?? Object.keys(mapping).at(-1);
  while (node !== undefined && !seen.has(node)) {
    seen.add(node);
    const { message: said, parent }: Conversation["mapping"][string] = mapping[node] ?? {};
    if (said !== null && said !== undefined) branch.unshift(said);
    node = parent ?? undefined;
  }
  return branch;
}

function lineOf(sessionId: string, said: ChatGptMessage, at: LinePlace, { problems, leftOut }: Findings): ImportLine | null {
  const { role } = said.author;
  if ((role !== "user" && role !== "assistant") || !TEXT_TYPES.has(said.content.content_type)) return null;
  if (said.metadata?.is_visually_hidden_from_conversation === true) return null;
  const content = (said.content.parts ?? []).filter((part): part is string => typeof part === "string" && part.trim() !== "").join("\n");
  if (content === "") return null;
  const where = `${at.where ?? at.line}, message ${shortLine(said.id)}`;
  if (content.length > MAX_CONTENT_CHARS) {
    leftOut.push({ pointer: `/${at.line}`, detail: `${where}: is over ${MAX_CONTENT_CHARS.toLocaleString("en")} characters` });
    return null;
  }
  const time = said.create_time === null || said.create_time === undefined ? undefined : new Date(said.create_time * 1000);
  return checkLine(
    {
      session_id: sessionId,
      role,
      content,
      message_id: said.id,
      ...(time === undefined || Number.isNaN(time.getTime()) ? {} : { created_at: time.toISOString() }),
    },
    { ...at, where },
    problems,
  );
}
