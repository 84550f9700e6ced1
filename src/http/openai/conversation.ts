import { createHash } from "node:crypto";
import type { Context } from "hono";
import type { GivenMessage } from "../../domain/given-messages.js";
import type { GivenImage } from "../../domain/image.js";
import type { Owner } from "../../domain/owner.js";
import { AppError, ERRORS } from "../../platform/errors.js";
import { isId, newId } from "../../platform/ids.js";
import type { CallResult, Chat, ChatAnswer, ChatRequest, Sessions } from "../../ports/application.js";
import type { ToolSpec } from "../../ports/chat-model.js";
import type { Identities } from "../../ports/identities.js";
import type { OwnAgent } from "../../ports/own-agent.js";
import type { HttpEnv } from "../http-env.js";
import { type Content, refused, saidIn, textOf } from "./content.js";
import { TOOLS_HEADER } from "./documented.js";

/** A conversation as a client of OpenAI's APIs sends it: whole, each time. */

/** All that a client's prompts may hold together, in characters. */
const MAX_PROMPT_CHARS = 32_000;
/** How many of the user's sessions are looked through for the one that began with the same words: pages, newest activity first. */
const MAX_PAGES = 5;
const PAGE = 200;
/** Of a conversation that began elsewhere, so many of its last messages are taken in. */
const MAX_TAKEN_IN = 1_000;
/** Messages of one write. */
const BATCH = 100;
/** Longer messages are cut: as long as a turn's may be, and as an answer. In characters. */
const MAX_CHARS = { user: 8_000, assistant: 64_000 } as const;

/** One entry of a conversation, whichever of the two APIs it came by. `pointer`: where its content stands in the body. */
export type Entry =
  | { readonly kind: "prompt" | "user" | "assistant"; readonly content: Content; readonly pointer: string }
  | { readonly kind: "result"; readonly result: CallResult; readonly pointer: string }
  | { readonly kind: "other"; readonly pointer: string };

/** What is asked of the turn, and how it finds its session. */
export interface Asked {
  readonly say: { readonly message: string; readonly images: readonly GivenImage[] } | { readonly results: readonly CallResult[] };
  /** The client's own, in the place of the domain's. */
  readonly prompt: string | undefined;
  readonly tools?: readonly ToolSpec[];
  readonly sessionId: string | undefined;
  /** What the names of sessions begin with that began with the same words. */
  readonly name: string;
  /** One message of the user's and nothing else: it goes on with no session, whatever others began with it. */
  readonly isNew: boolean;
  /** What was said before, as the client tells it. */
  readonly earlier: readonly GivenMessage[];
}

type TurnOptions = Parameters<Chat["chat"]>[1];

/**
 * The last of the user's messages is what is said; results of tools behind it go on with the turn that waits for them. Prompts are this
 * turn's. Anything before is the client's own memory of the conversation: taken in once, where no session has it.
 * @throws INVALID_REQUEST
 */
export function askedIn(
  entries: readonly Entry[],
  { sessionId, tools }: { readonly sessionId: string | undefined; readonly tools?: readonly ToolSpec[] },
): Asked {
  const said = entries.filter(({ kind }) => kind !== "prompt");
  const first = said.find((entry) => entry.kind === "user");
  return {
    say: lastOf(said),
    prompt: promptIn(entries),
    ...(tools !== undefined && { tools }),
    sessionId,
    name: nameOf(first?.kind === "user" ? textOf(first.content) : ""),
    isNew: said.length === 1,
    earlier: said.slice(0, -1).flatMap(givenIn).slice(-MAX_TAKEN_IN),
  };
}

/** The client's prompts, one behind the other, as they stand. @throws INVALID_REQUEST where together they are too long */
function promptIn(entries: readonly Entry[]): string | undefined {
  let prompt: string | undefined;
  for (const entry of entries) {
    const text = entry.kind === "prompt" ? textOf(entry.content) : "";
    if (text.trim() === "") continue;
    prompt = prompt === undefined ? text : `${prompt}\n\n${text}`;
    if (prompt.length > MAX_PROMPT_CHARS) throw refused(entry.pointer, `prompts of more than ${MAX_PROMPT_CHARS} characters together`);
  }
  return prompt;
}

/** What people read of it: calls of tools and what came of them are the client's own. */
function givenIn(entry: Entry): GivenMessage[] {
  if (entry.kind !== "user" && entry.kind !== "assistant") return [];
  const content = textOf(entry.content).slice(0, MAX_CHARS[entry.kind]);
  return content.trim() === "" ? [] : [{ role: entry.kind, content }];
}

function lastOf(said: readonly Entry[]): Asked["say"] {
  const last = said.at(-1);
  if (last?.kind === "user") return saidIn(last.content, last.pointer);
  if (last?.kind !== "result") throw refused(last?.pointer ?? "", "the last message must be the user's, or the result of a tool call");
  const start = said.findLastIndex(({ kind }) => kind !== "result") + 1;
  return { results: said.slice(start).flatMap((entry) => (entry.kind === "result" ? [entry.result] : [])) };
}

/** A hash: names stand in lists, where words have no place. */
function nameOf(firstMessage: string): string {
  return `openai:${createHash("sha256").update(firstMessage).digest("hex")}`;
}

/** The session that a request names: by header, or in its body. @throws INVALID_SESSION_ID, INVALID_REQUEST for two that differ */
export function namedSession(c: Context<HttpEnv>, ...named: readonly (string | undefined)[]): string | undefined {
  const given = [c.req.header("X-Session-Id"), ...named].filter((id) => id !== undefined);
  if (new Set(given).size > 1) throw new AppError("INVALID_REQUEST", { detail: "The request names two sessions." });
  if (given[0] !== undefined && !isId(given[0])) throw new AppError("INVALID_SESSION_ID");
  return given[0];
}

/** Where the session that a body names isn't there: the refusal with the place, which clients read as `param`. */
export function sessionNotFound(pointer: string, cause?: unknown): AppError {
  const { title, hint } = ERRORS.SESSION_NOT_FOUND;
  return new AppError("SESSION_NOT_FOUND", { errors: [{ pointer, detail: `${title}. ${hint}` }], cause });
}

/**
 * One turn, or what goes on with one. Where the client names no session and tells of more than one message, it is the one active session
 * of the user's with the newest activity that began with the same; a conversation that begins has a session of its own, and one that
 * no session has is taken in as the session's history, once.
 * @throws SESSION_NOT_FOUND for results that no such session waits for
 */
export async function runTurn(
  c: Context<HttpEnv>,
  { chat, sessions, ownAgent, identities, domainTools }: TurnParts,
  asked: Asked,
  options: TurnOptions,
): Promise<ChatAnswer> {
  const { say, name, isNew, earlier } = asked;
  const owner = await identities.resolve(c.get("owner"));
  let sessionId = asked.sessionId ?? (isNew ? undefined : await sessionNamed(sessions, owner, name));
  if ("results" in say && sessionId === undefined) throw new AppError("SESSION_NOT_FOUND");
  if (sessionId === undefined && earlier.length > 0) {
    sessionId = (await sessions.findOrCreate(owner, `${name}:${newId()}`, {})).session.id;
    const timeZone = c.get("timeZone");
    const into = { owner, sessionId, channel: "openai", ...(timeZone !== undefined && { timeZone }) };
    for (let at = 0; at < earlier.length; at += BATCH)
      await ownAgent.addMessages({ ...into, messages: earlier.slice(at, at + BATCH) }, options);
  }
  const session = sessionId === undefined ? { externalId: `${name}:${newId()}` } : { sessionId };
  const wanted = c.req.header(TOOLS_HEADER);
  const request = { ...turnOf(c, asked), domainTools: wanted === undefined ? domainTools : wanted === "domain", ...session };
  return "results" in say ? chat.resume({ ...request, results: say.results }, options) : chat.chat({ ...request, ...saidOf(say) }, options);
}

/** What a turn is made with. */
export interface TurnParts {
  readonly chat: Chat;
  readonly sessions: Pick<Sessions, "list" | "findOrCreate">;
  readonly ownAgent: Pick<OwnAgent, "addMessages">;
  readonly identities: Pick<Identities, "resolve">;
  /** Whether turns have the domain's tools where a request says nothing of it. */
  readonly domainTools: boolean;
}

async function sessionNamed(sessions: TurnParts["sessions"], owner: Owner, name: string): Promise<string | undefined> {
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { data, nextCursor } = await sessions.list(owner, { limit: PAGE, ...(cursor !== null && { cursor }) });
    const found = data.find(({ external_id }) => external_id?.startsWith(name));
    if (found !== undefined || nextCursor === null) return found?.id;
    cursor = nextCursor;
  }
  return undefined;
}

function turnOf(c: Context<HttpEnv>, { prompt, tools }: Asked) {
  const timeZone = c.get("timeZone");
  const homeTimeZone = c.get("identity").timeZone;
  return {
    owner: c.get("owner"),
    channel: "openai",
    ...(timeZone !== undefined && { timeZone }),
    ...(homeTimeZone !== undefined && { homeTimeZone }),
    ...(prompt !== undefined && { prompt }),
    ...(tools !== undefined && { tools }),
  };
}

function saidOf({ message, images }: Extract<Asked["say"], { message: string }>): Pick<ChatRequest, "message" | "images"> {
  return { message, ...(images.length > 0 && { images }) };
}
