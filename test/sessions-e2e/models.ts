import { expect } from "vitest";
import { conciergeScript } from "../../packages/concierge/src/offline-script.js";
import { OfflineModel } from "../../packages/offline/src/offline-model.js";
import type { Logger } from "../../src/platform/logger.js";
import type { ChatModel, ModelRequest } from "../../src/ports/agent.js";
import { isSummary } from "../../src/ports/context-headings.js";

/** A clock whose hands the test turns. */
export class HandClock {
  #now: Date;

  constructor(start: string) {
    this.#now = new Date(start);
  }

  now(): Date {
    return new Date(this.#now);
  }

  set(time: string): void {
    this.#now = new Date(time);
  }

  passDays(days: number): void {
    this.#now = new Date(this.#now.getTime() + days * 86_400_000);
  }
}

/** The concierge's own stand-in, as the product runs it without a key, and what it was given. */
export function listeningConcierge(): ChatModel & { readonly heard: ModelRequest[] } {
  const inner = new OfflineModel({ script: conciergeScript });
  const heard: ModelRequest[] = [];
  return {
    name: inner.name,
    standIn: true,
    heard,
    stream(request, options) {
      heard.push({ ...request, messages: [...request.messages] });
      return inner.stream(request, options);
    },
  };
}

export interface TalkingModel extends ChatModel {
  /** The requests of turns: those that offer tools. */
  readonly turns: ModelRequest[];
  /** All others: summaries, titles, extraction. */
  readonly others: ModelRequest[];
}

/** A model that is no stand-in: answers every turn with `answer`, everything else with what `other` says (throw to fail). */
export function talkingModel(options: {
  readonly name?: string;
  readonly contextTokens?: number;
  readonly answer?: string;
  readonly other: (request: ModelRequest) => string;
}): TalkingModel {
  const turns: ModelRequest[] = [];
  const others: ModelRequest[] = [];
  return {
    name: options.name ?? "talking",
    standIn: false,
    ...(options.contextTokens === undefined ? {} : { contextTokens: options.contextTokens }),
    turns,
    others,
    async *stream(request) {
      const isTurn = (request.tools?.length ?? 0) > 0;
      (isTurn ? turns : others).push({ ...request, messages: [...request.messages] });
      yield { type: "text", delta: isTurn ? (options.answer ?? "Gladly.") : options.other(request) };
      yield { type: "end", reason: "stop", usage: { input_tokens: 10, output_tokens: 2 } };
    },
  };
}

export interface Told {
  readonly level: keyof Logger;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

/** Keeps what is logged. */
export function listeningLogger(): Logger & { readonly told: Told[] } {
  const told: Told[] = [];
  const at = (level: keyof Logger) => (fields: object, message: string) => {
    told.push({ level, fields: fields as Record<string, unknown>, message });
  };
  return { told, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** What a request tells of rounds that have left the window. */
export function summaryText(request: ModelRequest | undefined): string {
  return (request?.messages ?? []).find(isSummary)?.content ?? "";
}

/** What comes off the reply path: looks until it is so, for as long as a busy machine may take. */
export function eventually<T>(look: () => T | Promise<T>) {
  return expect.poll(look, { timeout: 20_000 });
}
