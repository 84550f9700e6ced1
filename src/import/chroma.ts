import { z } from "zod";
import { exportedMemorySchema } from "../domain/export-format.js";
import { type RestorableMemory, STATED_TYPES, statementSchema } from "../domain/memory.js";
import { AHEAD, type Fields, type ImportProblems, isAhead, isFields, millisOf, type Talk, text } from "./import-line.js";

/** A memory of elsewhere: its id is made from the user's and the one that it has there. */
export type ImportedMemory = Omit<RestorableMemory, "id"> & { readonly externalId: string };

export interface FromChroma {
  readonly talks: readonly Talk[];
  readonly memories: readonly ImportedMemory[];
  /** Whom records name. */
  readonly users: readonly (string | undefined)[];
}

const collection = z.looseObject({
  ids: z.array(z.string().min(1)),
  documents: z.array(z.string().nullable()).nullish(),
  metadatas: z.array(z.record(z.string(), z.unknown()).nullable()).nullish(),
});

interface Row {
  /** Its name, or its number from 1; empty where the file is of one alone. */
  readonly collection: string;
  /** As a problem names it. */
  readonly where: string;
  /** From 1. */
  readonly number: number;
  readonly id: string;
  readonly document: string | null;
  readonly about: Fields;
}

/**
 * What `collection.get()` gives: of one collection, of several in a list, or by their names. One whose records have a `role` is a history,
 * any other one is of memories. Null where there is no record.
 */
export function chromaIn(document: unknown, now: Date, problems: ImportProblems): FromChroma | null {
  const collections = collectionsIn(document);
  if (collections.length === 0) return null;
  const histories = collections.filter((rows) => rows.some(({ about }) => text(about.role) !== undefined));
  const others = collections.filter((rows) => !histories.includes(rows));
  const memories = toldApart(others.flat()).flatMap((row) => (isActive(row) ? (memoryIn(row, now, problems) ?? []) : []));
  const users = collections.flat().map(({ about }) => text(about.user_id));
  return { talks: talksIn(toldApart(histories.flat()), problems), memories, users };
}

/** An id that several collections have is told with its collection's name. */
function toldApart(rows: readonly Row[]): readonly Row[] {
  const having = new Map<string, Set<string>>();
  for (const { id, collection: name } of rows) having.set(id, (having.get(id) ?? new Set()).add(name));
  return rows.map((row) => (having.get(row.id)?.size === 1 ? row : { ...row, id: `${row.collection}/${row.id}` }));
}

/** A memory that was superseded or deleted there is none here. */
function isActive({ about }: Row): boolean {
  return (text(about.status) ?? "active").toLowerCase() === "active";
}

function collectionsIn(document: unknown): readonly (readonly Row[])[] {
  const parts = collection.safeParse(document).success ? [["", document] as const] : partsOf(document);
  return parts.flatMap(([name, part]) => {
    const { data } = collection.safeParse(part);
    if (data === undefined) return [];
    const { ids, documents, metadatas } = data;
    if ([documents, metadatas].some((list) => list != null && list.length !== ids.length)) return [];
    const rows = ids.map((id, at) => {
      const where = `${name === "" ? "Record" : `Collection ${name}, record`} ${at + 1} (${id})`;
      return { collection: name, where, number: at + 1, id, document: documents?.[at] ?? null, about: metadatas?.[at] ?? {} };
    });
    return rows.length === 0 ? [] : [rows];
  });
}

/** By name, or by number from 1. */
function partsOf(document: unknown): readonly (readonly [name: string, part: unknown])[] {
  if (Array.isArray(document)) return document.map((part, at) => [`${at + 1}`, part] as const);
  return isFields(document) ? Object.entries(document) : [];
}

function talksIn(rows: readonly Row[], problems: ImportProblems): readonly Talk[] {
  const talks = new Map<string, Talk & { readonly messages: Talk["messages"][number][] }>();
  for (const { where, number, id, document, about } of rows) {
    const session = text(about.session_id) ?? text(about.conversation_id) ?? text(about.thread_id);
    if (session === undefined) {
      problems.add(number, "/session_id", "session_id: is in none of its metadata", where);
      continue;
    }
    const talk = talks.get(session) ?? { id: session, title: "", user: undefined, messages: [] };
    talk.messages.push({ id, role: about.role, content: document, at: timeIn(about) });
    talks.set(session, talk);
  }
  const all = [...talks.values()];
  for (const { messages } of all) messages.sort((a, b) => millisOf(a.at) - millisOf(b.at));
  return all;
}

/** What a statement by hand may be. */
const memorySchema = exportedMemorySchema.omit({ id: true }).extend({
  text: z.string().trim().pipe(statementSchema.shape.text),
  category: statementSchema.shape.category,
  aspect: statementSchema.shape.aspect,
});
const TYPES: readonly string[] = STATED_TYPES.filter((type) => type !== "summary");

/** Null with the problem noted. As one that the user adds by hand: what must hold waits for their word. */
function memoryIn({ where, number, id, document, about }: Row, now: Date, problems: ImportProblems): ImportedMemory | null {
  const stated = millisOf(timeIn(about));
  if (isAhead(stated, now)) {
    problems.add(number, "/created_at", AHEAD, where);
    return null;
  }
  const at = new Date(Number.isNaN(stated) ? now : Math.min(stated, now.getTime())).toISOString();
  const kind = text(about.type) ?? text(about.memory_type) ?? "";
  const isHard = about.strength === "hard" || kind === "constraint";
  const parsed = memorySchema.safeParse({
    // Mem0 has the text among the metadata.
    text: document ?? text(about.data) ?? text(about.memory) ?? text(about.text) ?? text(about.content) ?? "",
    category: text(about.category) ?? "other",
    aspect: text(about.aspect) ?? "",
    ...{ type: isHard ? "constraint" : TYPES.includes(kind) ? kind : "fact", strength: isHard ? "hard" : "soft" },
    ...{ subject: text(about.subject) ?? "self", scope: "standing", status: "active" },
    ...{ stated_at: at, valid_from: at, valid_until: null, superseded_by: null, confidence: 1, seen_count: 1, last_confirmed_at: at },
    ...{ entities: [], tags: [], source: null, created_at: at, updated_at: at, history: [] },
  });
  if (parsed.success) return { ...parsed.data, externalId: id };
  problems.addIssues(number, parsed.error, where);
  return null;
}

function timeIn(about: Fields): unknown {
  return about.created_at ?? about.timestamp ?? about.updated_at;
}
