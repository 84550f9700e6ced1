import { z } from "zod";
import { checkLine, type ImportLine, ImportProblems } from "./import-line.js";

/**
 * Reads the `conversations.json` of a ChatGPT data export: an array of conversations, each a tree of messages. Of each, the branch that
 * was shown last is taken; of its messages those that the user and the assistant wrote, as text. Hidden system messages, tool calls
 * and pictures are left out.
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
}

/** True for what may be such an export: an array of objects with a mapping. */
export function looksLikeChatGpt(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.every((item) => typeof item === "object" && item !== null && "mapping" in item);
}

/** @throws INVALID_IMPORT: "line" is then the conversation's number, from 1 */
export function readChatGpt(conversations: readonly unknown[]): ChatGptImport {
  const problems = new ImportProblems();
  const titles = new Map<string, string>();
  const lines = conversations.flatMap((value, i) => {
    const parsed = conversation.safeParse(value);
    const id = parsed.data?.conversation_id ?? parsed.data?.id;
    if (!parsed.success || id === null || id === undefined) {
      problems.add(i + 1, "", "is not a conversation of a ChatGPT export");
      return [];
    }
    const title = parsed.data.title?.trim();
    if (title !== undefined && title !== "") titles.set(id, title);
    return shownBranch(parsed.data).flatMap((said) => lineOf(id, said, i + 1, problems) ?? []);
  });
  problems.throwIfAny();
  return { lines, titles };
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

function lineOf(sessionId: string, said: ChatGptMessage, number: number, problems: ImportProblems): ImportLine | null {
  const { role } = said.author;
  if ((role !== "user" && role !== "assistant") || !TEXT_TYPES.has(said.content.content_type)) return null;
  if (said.metadata?.is_visually_hidden_from_conversation === true) return null;
  const content = (said.content.parts ?? []).filter((part): part is string => typeof part === "string" && part.trim() !== "").join("\n");
  if (content === "") return null;
  const at = said.create_time === null || said.create_time === undefined ? undefined : new Date(said.create_time * 1000);
  return checkLine(
    {
      session_id: sessionId,
      role,
      content,
      message_id: said.id,
      ...(at === undefined || Number.isNaN(at.getTime()) ? {} : { created_at: at.toISOString() }),
    },
    number,
    problems,
  );
}
