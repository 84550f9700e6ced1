import { afterAll, beforeAll, expect } from "vitest";
import { EngineBookings } from "../../../packages/concierge/src/engine-bookings.js";
import type { Owner } from "../../../src/domain/owner.js";
import { collected } from "../../../src/platform/collected.js";
import { isAppError } from "../../../src/platform/errors.js";
import type { ModelEvent, ModelRequest } from "../../../src/ports/agent.js";
import type { ChatAnswer } from "../../../src/ports/resources.js";
import type { StateEngine } from "../../../src/state/engine.js";
import { MemoryEngine } from "../../../src/state/engines/memory/memory-engine.js";
import { ownerPartition } from "../../../src/state/partition.js";
import { needQuoted, TaskModel } from "../../support/task-model.js";
import type { EngineHome } from "../engines/every-engine.js";
import { type Unanswering, unanswering } from "./lost-replies.js";
import { type Replica, startReplica } from "./replicas.js";

/**
 * Once: the store's own retry is answered. Four times: nobody is told how the write ended. Eight times: nor when it is looked up. A write that
 * is refused so often is not done.
 */
export const FAULTS = [
  { times: 1, fault: "lost reply" },
  { times: 4, fault: "lost reply" },
  { times: 8, fault: "lost reply" },
  { times: 4, fault: "refusal" },
] as const;
/** That a client asks again. */
export const TRIES = 5;
/** Of a story, each with another write, at the same time. */
export const LANES = 4;

/** Looks for events, and answers; each answer is another one. */
export class LookingModel extends TaskModel {
  answers = 0;

  constructor() {
    super();
    this.read = ({ MESSAGE }) => ({
      off_record: null,
      operations: MESSAGE.includes("nuts") ? [needQuoted("I am allergic to nuts", "nuts", "no_nuts")] : [],
    });
  }

  override async *stream(request: ModelRequest): AsyncGenerator<ModelEvent, void, undefined> {
    if (request.task !== "chat") return yield* super.stream(request);
    const isTold = request.messages.at(-1)?.role === "tool";
    if (isTold) yield { type: "text", delta: `Answer ${++this.answers}.` };
    else yield { type: "tool_call", call: { id: "call_1", name: "search_events", arguments: JSON.stringify({ query: "jazz" }) } };
    yield { type: "end", reason: isTold ? "stop" : "tool_calls", usage: { input_tokens: 1, output_tokens: 1 } };
  }
}

export interface World extends Unanswering {
  /** What is there, without the faults. */
  readonly state: StateEngine;
  readonly replica: Replica;
  readonly model: LookingModel;
}

/** An engine that nobody has used. */
export type MakeEngine = () => Promise<StateEngine>;

/** Those of a home that is there for the tests of a suite. */
export function madeAt(home: () => Promise<EngineHome>): MakeEngine {
  let engines: EngineHome;
  const used: Awaited<ReturnType<EngineHome["fresh"]>>[] = [];
  beforeAll(async () => {
    engines = await home();
  });
  afterAll(async () => {
    for (const { dispose } of used) await dispose();
    await engines.close();
  });
  return async () => {
    const fresh = await engines.fresh();
    used.push(fresh);
    return fresh.open();
  };
}

export const inMemory: MakeEngine = async () => new MemoryEngine();

/** `scripted`: with a model that the test knows; else with what stands in for one. */
export async function open({ scripted, make = inMemory }: { readonly scripted: boolean; readonly make?: MakeEngine }): Promise<World> {
  const state = await make();
  const faults = unanswering(state);
  const model = new LookingModel();
  return Object.assign(faults, { state, model, replica: await startReplica(faults.engine, scripted ? { model } : {}) });
}

/** Asks again, as a client does, where the storage was out of reach. */
export async function insisting<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (tries === TRIES || !isAppError(error, "STORAGE_UNAVAILABLE")) throw error;
    }
  }
}

/** One turn under a key until it is answered; `streamed`: what its guest saw at each try, where that was anything. */
export async function say(
  { replica }: World,
  owner: Owner,
  message: string,
  { session, key = message }: { readonly session?: string; readonly key?: string } = {},
): Promise<{ readonly answer: ChatAnswer; readonly streamed: readonly string[] }> {
  const { chat, sessions } = replica.application;
  const streamed: string[] = [];
  const request = { owner, message, idempotency: { key, requestHash: "h" }, ...(session !== undefined && { sessionId: session }) };
  const answer = await insisting(() => {
    let text = "";
    const place = streamed.push("") - 1;
    return chat.chat(request, {
      onEvent: (event) => {
        if (event.type === "token") text += event.delta;
        if (event.type === "retract") text = event.content;
        streamed[place] = text;
      },
    });
  });
  await insisting(() => sessions.flush(owner, answer.session_id, 10_000));
  return { answer, streamed: streamed.filter((text) => text !== "") };
}

/** All that is told of an owner, but for ids and times. */
export async function allOf({ replica, state }: World, owner: Owner) {
  const { sessions, memories, events, parts } = replica.application;
  await parts.worker.drain(20_000);
  const { data } = await sessions.list(owner, { limit: 200 });
  const journals: string[][] = [];
  for (const { id } of data) {
    const records = await collected(parts.store.journal.read(owner, id, { includeRewound: true }));
    // Titles and topics that one turn misses the next one makes.
    const kept = records.filter(({ type }) => type !== "session_patch");
    journals.push(kept.map(({ type, turn, body }) => `${turn} ${type} ${"role" in body ? `${body.role} ${body.outcome}` : ""}`));
  }
  const known = await memories.list(owner, { limit: 200, includeSuperseded: true });
  const rows = await state.read(ownerPartition(owner), { ranges: [{ from: "", to: "\u{10FFFF}" }] });
  const told = (await events.list({ owner }, { limit: 200 })).data;
  expect(new Set(told.map(({ id }) => id)).size).toBe(told.length);
  return {
    sessions: data.map(({ message_count, write_back, usage }) => ({ message_count, write_back, calls: usage.chat?.calls })),
    journals: journals.map((lines) => lines.toSorted()).toSorted(),
    memories: known.data.map(({ text, status, seen_count }) => [text.replace(/ in .* for /, " for "), status, seen_count]),
    events: told.map(({ type }) => type).sort(),
    bookings: (await new EngineBookings(state).list(owner)).map(({ quantity, status }) => `${quantity} ${status}`),
    left: (rows.ranges[0] ?? []).map(({ key }) => key).filter((key) => /^(lock|trash|job|outbox)\//.test(key)),
  };
}

export type Found = Awaited<ReturnType<typeof allOf>>;

/** `lane`: a story with each write whose place is `place`, `place + LANES`, …; the first that is never made. How many writes there were. */
export async function inLanes(lane: (place: number) => Promise<number>): Promise<number> {
  return Math.min(...(await Promise.all(Array.from({ length: LANES }, (_, place) => lane(place + 1))))) - 1;
}
