import { readFile } from "node:fs/promises";
import { z } from "zod";

/** Conversations with questions, and for each question the messages that answer it. */
const schema = z.array(
  z.object({
    conversation: z.string(),
    speakers: z.tuple([z.string(), z.string()]),
    messages: z.array(
      z.object({
        id: z.string(),
        session: z.union([z.string(), z.number()]).transform(String),
        name: z.string(),
        text: z.string(),
        created_at: z.string(),
      }),
    ),
    questions: z.array(
      z.object({
        question: z.string(),
        evidence: z.array(z.string()).min(1),
        category: z.union([z.string(), z.number()]).transform(String),
      }),
    ),
  }),
);
export type Conversation = z.infer<typeof schema>[number];
export type Question = Conversation["questions"][number];

export async function readDataset(path: string): Promise<Conversation[]> {
  return schema.parse(JSON.parse(await readFile(path, "utf8")));
}

/** As JSON lines for an import: the first speaker is the user, the second answers. */
export async function* importLines({ speakers, messages }: Conversation): AsyncGenerator<Uint8Array> {
  for (const { id, session, name, text, created_at } of messages) {
    const role = name === speakers[0] ? "user" : "assistant";
    yield Buffer.from(`${JSON.stringify({ session_id: session, role, content: text, created_at, message_id: id, name })}\n`);
  }
}
