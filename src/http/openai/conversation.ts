import { hash } from "node:crypto";
import type { Context } from "hono";
import type { GivenMessage, GivenStep } from "../../domain/given-messages.js";
import type { GivenImage } from "../../domain/image.js";
import type { JsonValue } from "../../domain/session.js";
import { AppError, ERRORS, invalidField, isAppError } from "../../platform/errors.js";
import { isId, newId } from "../../platform/ids.js";
import { present } from "../../platform/present.js";
import type { Application, CallResult, Chat, ChatRequest } from "../../ports/application.js";
import type { ToolSpec } from "../../ports/chat-model.js";
import type { MessagesToAdd } from "../../ports/own-agent.js";
import type { ChatAnswer } from "../../ports/resources.js";
import type { HttpEnv } from "../http-env.js";
import { type Content, outputOf, saidIn, textOf } from "./content.js";
import { DOOR, type GoingOn, MAX_CHARS, type Sent, sessionsGoingOn } from "./going-on.js";

/** A conversation as a client of OpenAI's APIs sends it: whole, each time. */

/** Says whether the domain's tools are offered. */
export const TOOLS_HEADER = "X-Maitred-Tools";

/** Of a conversation that began elsewhere, so many of its last messages are taken in. */
const MAX_TAKEN_IN = 1_000;
/** Messages of one write. */
const BATCH = 100;

/** What is asked of the turn, and how it finds its session. */
export interface Asked extends Sent {
  readonly say: { readonly message: string; readonly images: readonly GivenImage[] } | { readonly results: readonly CallResult[] };
  /** The client's own, in the place of the domain's. */
  readonly prompt: string | undefined;
  readonly tools?: readonly ToolSpec[];
  readonly sessionId: string | undefined;
  /** The user says something for the first time: it goes on with no session, whatever others began with it. */
  readonly isNew: boolean;
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
  const first = said.find(isUsers);
  const last = said.findLast(isUsers);
  return {
    say: lastOf(said),
    prompt: promptIn(entries),
    ...(tools !== undefined && { tools }),
    sessionId,
    name: nameOf(textOf(first?.content)),
    isNew: first === last,
    earlier: givenIn(said.slice(0, last === undefined ? 0 : said.indexOf(last))),
    last: textOf(last?.content),
  };
}

function lastOf(said: readonly Entry[]): Asked["say"] {
  const last = said.at(-1);
  if (last?.kind === "user") return saidIn(last.content, last.pointer);
  if (last?.kind !== "result") throw invalidField(last?.pointer ?? "", "the last message must be the user's, or the result of a tool call");
  const start = said.findLastIndex(({ kind }) => kind !== "result") + 1;
  return { results: said.slice(start).flatMap((entry) => (entry.kind === "result" ? [entry.result] : [])) };
}

/** A hash: names stand in lists, where words have no place. */
function nameOf(firstMessage: string): string {
  return `${DOOR}${hash("sha256", firstMessage)}`;
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
 * One turn, or what goes on with one. Where the client names no session and tells of more than one message, it is that of {@link
 * sessionsGoingOn}; a conversation that begins has a session of its own. What no session has is taken in as its history, once; the last
 * message that a session has already is said in its place.
 * @throws SESSION_NOT_FOUND for results that no such session waits for
 */
export async function runTurn(c: Context<HttpEnv>, parts: TurnParts, asked: Asked, options: TurnOptions): Promise<ChatAnswer> {
  const { chat, sessions, identities, ownAgent } = parts.application;
  const { say, sessionId, isNew, name, earlier } = asked;
  const owner = await identities.resolve(c.get("owner"));
  const turn = turnOf(c, asked, parts.domainTools);
  const goingOn = sessionsGoingOn(sessions, owner, asked);
  if ("results" in say) {
    const resume = (id: string) => chat.resume({ ...turn, sessionId: id, results: say.results }, options);
    return sessionId === undefined ? firstThatWaits(goingOn, resume) : resume(sessionId);
  }
  const said = { ...turn, ...saidOf(say) };
  if (sessionId !== undefined) return chat.chat({ ...said, sessionId }, options);
  const found = isNew ? undefined : await firstOf(goingOn);
  const unknown = earlier.slice(found?.held ?? 0).slice(-MAX_TAKEN_IN);
  if (found === undefined && unknown.length === 0) return chat.chat({ ...said, externalId: `${name}:${newId()}` }, options);
  const id = found?.sessionId ?? (await sessions.findOrCreate(owner, `${name}:${newId()}`, {})).session.id;
  await takeIn(unknown, { owner, sessionId: id, channel: turn.channel, ...present({ timeZone: turn.timeZone }) });
  return chat.chat({ ...said, sessionId: id, ...(found?.again !== undefined && { editOf: found.again }) }, options);

  async function takeIn(messages: readonly GivenMessage[], into: Omit<MessagesToAdd, "messages">): Promise<void> {
    for (let at = 0; at < messages.length; at += BATCH)
      await ownAgent.addMessages({ ...into, messages: messages.slice(at, at + BATCH) }, options);
  }
}

async function firstOf<T>(items: AsyncIterable<T>): Promise<T | undefined> {
  for await (const item of items) return item;
  return undefined;
}

/** Of sessions whose last message is the one that was sent last. @throws SESSION_NOT_FOUND, TOOL_CALL_NOT_WAITING */
async function firstThatWaits<T>(sessions: AsyncIterable<GoingOn>, resume: (sessionId: string) => Promise<T>): Promise<T> {
  let refused = new AppError("SESSION_NOT_FOUND");
  for await (const { sessionId, again } of sessions)
    try {
      if (again !== undefined) return await resume(sessionId);
    } catch (error) {
      if (!isAppError(error, "TOOL_CALL_NOT_WAITING")) throw error;
      refused = error;
    }
  throw refused;
}

export interface TurnParts {
  readonly application: Pick<Application, "chat" | "sessions" | "ownAgent" | "identities">;
  /** Whether turns have the domain's tools where a request says nothing of it. */
  readonly domainTools: boolean;
}

function turnOf(c: Context<HttpEnv>, { prompt, tools }: Asked, domainTools: boolean) {
  const wanted = c.req.header(TOOLS_HEADER);
  const timeZone = c.get("timeZone");
  const homeTimeZone = c.get("identity").timeZone;
  return {
    owner: c.get("owner"),
    channel: "openai",
    ...present({ timeZone, homeTimeZone, prompt, tools }),
    domainTools: wanted === undefined ? domainTools : wanted === "domain",
  };
}

function saidOf({ message, images }: Extract<Asked["say"], { message: string }>): Pick<ChatRequest, "message" | "images"> {
  return { message, ...(images.length > 0 && { images }) };
}

/** What a conversation consists of as a client sends it, whichever of the two APIs it came by. */

/** All that a client's prompts may hold together, in characters. */
const MAX_PROMPT_CHARS = 32_000;
/** Of what a client's tool gave elsewhere: as much as is kept of one that gives it here, in characters of JSON. */
const MAX_OUTPUT_CHARS = 16_000;

/** `pointer`: where its content stands in the body. */
export type Entry =
  | { readonly kind: "prompt" | "user" | "assistant"; readonly content: Content; readonly pointer: string }
  | { readonly kind: "call"; readonly callId: string; readonly name: string; readonly arguments: string; readonly pointer: string }
  | { readonly kind: "result"; readonly result: CallResult; readonly pointer: string }
  | { readonly kind: "other"; readonly pointer: string };

function isUsers(entry: Entry): entry is Extract<Entry, { readonly content: Content }> {
  return entry.kind === "user";
}

/** The client's prompts, one behind the other, as they stand. @throws INVALID_REQUEST where together they are too long */
function promptIn(entries: readonly Entry[]): string | undefined {
  let prompt: string | undefined;
  for (const entry of entries) {
    const text = entry.kind === "prompt" ? textOf(entry.content) : "";
    if (text.trim() === "") continue;
    prompt = prompt === undefined ? text : `${prompt}\n\n${text}`;
    if (prompt.length > MAX_PROMPT_CHARS) throw invalidField(entry.pointer, `prompts of more than ${MAX_PROMPT_CHARS} characters together`);
  }
  return prompt;
}

/** What was said, with the calls of tools before it and what came of them. Of calls without an answer behind them nothing is left. */
function givenIn(entries: readonly Entry[]): GivenMessage[] {
  const messages: GivenMessage[] = [];
  const calls = new Map<string, Pick<GivenStep, "name" | "input">>();
  let steps: GivenStep[] = [];
  for (const entry of entries) {
    if (entry.kind === "call") calls.set(entry.callId, { name: entry.name, input: outputOf(entry.arguments) });
    else if (entry.kind === "result") {
      const call = calls.get(entry.result.callId);
      if (call !== undefined) steps.push({ ...call, output: bounded(entry.result.output) });
    } else if (entry.kind === "user" || entry.kind === "assistant") {
      if (entry.kind === "user") steps = [];
      const content = textOf(entry.content).slice(0, MAX_CHARS[entry.kind]);
      if (content.trim() === "") continue;
      messages.push({ role: entry.kind, content, ...(steps.length > 0 && { steps }) });
      steps = [];
    }
  }
  return messages;
}

function bounded(output: JsonValue): JsonValue {
  const text = typeof output === "string" ? output : JSON.stringify(output);
  return text.length <= MAX_OUTPUT_CHARS ? output : text.slice(0, MAX_OUTPUT_CHARS);
}
