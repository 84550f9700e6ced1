import { z } from "zod";
import { AppError, type ErrorDetail } from "../platform/errors.js";
import { chromaIn, type ImportedMemory } from "./chroma.js";
import { checkLine, type Fields, type ImportLine, ImportProblems, isFields, millisOf, type Talk, text, timeOf } from "./import-line.js";

/**
 * Conversations as other products keep them, in JSON: Chainlit's threads and steps, as its data layers store them, together or apart;
 * a Firestore export of `chat_sessions` with `messages` below each, as firestore-export and alike write it, or nested plainly; what
 * `collection.get()` of Chroma gives of a history and of memories. Of each the messages of user and assistant, with their ids and times, so
 * that the same file twice adds nothing. What others said, steps of tools and elements are left out and counted; vectors are not counted.
 */

export interface OtherImport {
  readonly lines: readonly ImportLine[];
  /** By conversation id. */
  readonly titles: ReadonlyMap<string, string>;
  readonly memories: readonly ImportedMemory[];
  /** How much of each kind that is not kept here; none where there is nothing of it. */
  readonly leftOut: readonly ErrorDetail[];
}

/** Null where it is none of them. @throws INVALID_IMPORT naming conversation and message, or collection and record */
export function readOtherProduct(document: unknown, now: Date): OtherImport | null {
  // Maitred's own has sessions too.
  if (isFields(document) && "format" in document) return null;
  const problems = new ImportProblems();
  const chainlit = chainlitIn(document);
  const conversations = chainlit?.talks ?? firestoreIn(document);
  const read = conversations === null ? chromaIn(document, now, problems) : { talks: conversations, memories: [], users: [] };
  if (read === null) return null;
  const { talks, memories } = read;
  requireOneUser([...talks.map(({ user }) => user), ...read.users]);
  let others = 0;
  const lines = talks.flatMap((talk, at) =>
    talk.messages.flatMap(({ id, role: said, content, at: time }, place) => {
      const role = ROLES.get(String(said).toLowerCase());
      if (role === undefined) others += 1;
      if (role === undefined || content === undefined || content === null || String(content).trim() === "") return [];
      const created = timeOf(time);
      const line = {
        session_id: talk.id,
        role,
        content: String(content),
        ...(id && { message_id: id }),
        ...(created && { created_at: created }),
      };
      return checkLine(line, { line: at + 1, where: `Conversation ${at + 1}, message ${place + 1}`, now }, problems) ?? [];
    }),
  );
  problems.throwIfAny();
  const leftOut = [
    ...counted("/messages", others, [
      "step or message that is neither the user's nor the assistant's",
      "steps or messages that are neither the user's nor the assistant's",
    ]),
    ...counted("/elements", chainlit?.elements ?? 0, ["element, such as a file or an image", "elements, such as files and images"]),
  ];
  return { lines, titles: new Map(talks.flatMap(({ id, title }) => (title === "" ? [] : [[id, title]]))), memories, leftOut };
}

function counted(pointer: string, count: number, [one, many]: readonly [one: string, many: string]): readonly ErrorDetail[] {
  return count === 0 ? [] : [{ pointer, detail: `${count} ${count === 1 ? one : many}` }];
}

/** By the names that these products have for who speaks. */
const ROLES: ReadonlyMap<string, ImportLine["role"]> = new Map([
  ...["user", "user_message", "human"].map((name) => [name, "user"] as const),
  ...["assistant", "assistant_message", "ai", "model", "bot", "agent"].map((name) => [name, "assistant"] as const),
]);

/** An import is one user's. @throws INVALID_IMPORT */
function requireOneUser(named: readonly (string | undefined)[]): void {
  const users = new Set(named.flatMap((user) => user ?? []));
  if (users.size < 2) return;
  const detail = `The file is of ${users.size} users, and an import is of one.`;
  throw new AppError("INVALID_IMPORT", { detail, hint: "Split it by user, and import each part for its own." });
}

const step = z.looseObject({
  id: z.string(),
  threadId: z.string().nullish(),
  type: z.string(),
  output: z.unknown(),
  createdAt: z.unknown(),
});
const thread = z.looseObject({
  id: z.string().min(1),
  name: z.string().nullish(),
  userIdentifier: z.string().nullish(),
  userId: z.string().nullish(),
  steps: z.array(step).nullish(),
  elements: z.array(z.unknown()).nullish(),
});

/** What Chainlit shows beside messages, by `type`. */
const ELEMENTS = new Set(["image", "text", "pdf", "tasklist", "audio", "video", "file", "plotly", "dataframe", "custom"]);

function isElement(item: unknown): boolean {
  return isFields(item) && ELEMENTS.has(String(item.type));
}

/** A thread with its steps and elements in it, or all of them beside each other, in any order. */
function chainlitIn(document: unknown): { readonly talks: readonly Talk[]; readonly elements: number } | null {
  const all = itemsOf(document, ["threads", "steps", "elements"]);
  const items = all.filter((item) => !isElement(item));
  const steps = items.flatMap((item) => step.safeParse(item).data ?? []);
  const threads = items.filter((item) => !step.safeParse(item).success).flatMap((item) => thread.safeParse(item).data ?? []);
  const inThreads = threads.flatMap(({ steps: own, id }) => (own ?? []).map((each) => ({ ...each, threadId: id })));
  const said = [...steps, ...inThreads].filter((each) => !isWrapper(each));
  if (said.length === 0 || !said.some(({ type }) => type.endsWith("_message"))) return null;
  const ids = new Set([...threads.map(({ id }) => id), ...said.flatMap(({ threadId }) => threadId ?? [])]);
  const talks = [...ids].map((id): Talk => {
    const named = threads.find((each) => each.id === id);
    const own = said.filter(({ threadId }) => threadId === id).toSorted((a, b) => millisOf(a.createdAt) - millisOf(b.createdAt));
    return {
      id,
      title: named?.name ?? "",
      user: named?.userIdentifier ?? named?.userId ?? undefined,
      messages: own.map((each) => ({ id: each.id, role: each.type, content: each.output, at: each.createdAt })),
    };
  });
  return { talks, elements: threads.reduce((sum, { elements }) => sum + (elements?.length ?? 0), all.length - items.length) };
}

/** Chainlit's own step around a whole turn: what it says stands in the messages below it. */
function isWrapper({ type, output }: z.output<typeof step>): boolean {
  return type === "run" && (output === undefined || output === null || output === "");
}

const SESSIONS = ["chat_sessions", "sessions", "conversations"];
const MESSAGES = ["messages", "turns"];

/** Null where there is no session: a collection of Chroma's may have the same name. */
function firestoreIn(document: unknown): readonly Talk[] | null {
  const sessions = below(document, SESSIONS);
  if (sessions.length === 0) return null;
  return sessions.map(([id, fields]): Talk => {
    const messages = below(fields, MESSAGES);
    const said = messages.map(([messageId, each]) => ({
      id: text(each.id) ?? messageId,
      role: each.role ?? each.sender ?? each.author ?? each.type,
      content: each.content ?? each.text ?? each.message,
      at: each.created_at ?? each.createdAt ?? each.timestamp ?? each.time,
    }));
    return {
      id,
      title: text(fields.title) ?? text(fields.name) ?? "",
      user: text(fields.user_id) ?? text(fields.userId),
      messages: said.toSorted((a, b) => millisOf(a.at) - millisOf(b.at)),
    };
  });
}

/** Documents of a list, or of an object that holds lists of such names. */
function itemsOf(document: unknown, names: readonly string[]): readonly unknown[] {
  if (Array.isArray(document)) return document;
  if (!isFields(document)) return [];
  return names.flatMap((name) => (Array.isArray(document[name]) ? document[name] : []));
}

/** The documents of the first of such collections, by id. */
function below(parent: unknown, names: readonly string[]): readonly (readonly [id: string, fields: Fields])[] {
  if (!isFields(parent)) return [];
  const collections = isFields(parent.__collections__) ? parent.__collections__ : parent;
  const found = names.map((name) => collections[name]).find((each) => Array.isArray(each) || isFields(each));
  if (Array.isArray(found)) return found.filter(isFields).map((each, at) => [text(each.id) ?? `${at + 1}`, each] as const);
  return isFields(found) ? Object.entries(found).flatMap(([id, each]) => (isFields(each) ? [[id, each] as const] : [])) : [];
}
