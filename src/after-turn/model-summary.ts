import { readFileSync } from "node:fs";
import { AppError } from "../platform/errors.js";
import type { TokenCounter } from "../platform/tokens.js";
import type { ChatModel, ModelMessage } from "../ports/agent.js";
import type { AlsoAsked } from "../ports/extraction.js";
import type { SummaryRound } from "./extractive-summary.js";

export interface ModelSummaryOptions {
  readonly maxTokens: number;
  /** Of the transcript that one call is given. */
  readonly maxInputTokens: number;
  readonly counter: TokenCounter;
  readonly signal: AbortSignal;
}

/** A summary that covers the rounds up to `toTurn`. */
export interface EarlierSummary {
  readonly text: string;
  readonly toTurn: number;
}

const PROMPT = readFileSync(new URL("./prompts/summary.txt", import.meta.url), "utf8").trim();

/**
 * A summary by the model, from the rounds themselves as far as they fit into one call; otherwise, and where only rounds after it are given,
 * from the summary so far and what came after it, in as many calls as it takes.
 * @throws MODEL_UNAVAILABLE (also for an empty answer, and one that was cut), and what else the model throws
 */
export async function modelSummary(
  model: ChatModel,
  rounds: readonly SummaryRound[],
  earlier: EarlierSummary | null,
  options: ModelSummaryOptions,
): Promise<string> {
  const { pieces, start } = piecesOf(rounds, earlier, options);
  return fold(model, pieces, start, options);
}

/** What the calls are given, one after the other, and the summary that the first goes on from. */
function piecesOf(
  rounds: readonly SummaryRound[],
  earlier: EarlierSummary | null,
  options: Pick<ModelSummaryOptions, "maxInputTokens" | "counter">,
): { readonly pieces: readonly (readonly string[])[]; readonly start: string | null } {
  const since = rounds.filter((round) => round.turn > (earlier?.toTurn ?? 0));
  const whole = since.length < rounds.length || earlier === null ? chunks(rounds, options) : null;
  if (earlier === null || whole?.length === 1) return { pieces: whole ?? [], start: null };
  return { pieces: chunks(since, options), start: earlier.text };
}

/** The same as work that another call may do beside its own; null where it takes more than one. */
export function summaryAsked(
  rounds: readonly SummaryRound[],
  earlier: EarlierSummary | null,
  options: Pick<ModelSummaryOptions, "maxTokens" | "maxInputTokens" | "counter">,
): AlsoAsked | null {
  const { pieces, start } = piecesOf(rounds, earlier, options);
  const [lines, ...more] = pieces;
  if (lines === undefined || more.length > 0) return null;
  return { task: "summary", how: instructions(options.maxTokens), of: transcriptOf(start, lines), maxOutputTokens: options.maxTokens };
}

async function fold(
  model: ChatModel,
  pieces: readonly (readonly string[])[],
  start: string | null,
  options: ModelSummaryOptions,
): Promise<string> {
  let summary = start;
  for (const lines of pieces) {
    summary = await write(model, transcriptOf(summary, lines), options);
  }
  if (summary === null) throw new AppError("MODEL_UNAVAILABLE", { detail: "There was nothing to summarise." });
  return summary;
}

function transcriptOf(start: string | null, lines: readonly string[]): string {
  return [...(start === null ? [] : [JSON.stringify({ record_so_far: start })]), ...lines].join("\n");
}

function instructions(maxTokens: number): string {
  return `${PROMPT}\nAt most ${Math.floor(maxTokens * 0.6)} words.`;
}

/** The rounds as JSON lines, in pieces that fit into a call. A round that is too long for one is cut. */
function chunks(
  rounds: readonly SummaryRound[],
  { counter, maxInputTokens }: Pick<ModelSummaryOptions, "maxInputTokens" | "counter">,
): string[][] {
  const pieces: string[][] = [];
  let room = 0;
  for (const { turn, user, assistant } of rounds) {
    const line = JSON.stringify({ turn, user, assistant });
    const cost = counter.count(line);
    const fitting = cost <= maxInputTokens ? line : line.slice(0, maxInputTokens);
    const piece = pieces.at(-1);
    if (piece && cost <= room) piece.push(fitting);
    else {
      pieces.push([fitting]);
      room = maxInputTokens;
    }
    room -= cost;
  }
  return pieces;
}

async function write(model: ChatModel, transcript: string, { maxTokens, counter, signal }: ModelSummaryOptions): Promise<string> {
  const messages: ModelMessage[] = [
    { role: "system", content: instructions(maxTokens) },
    { role: "user", content: transcript },
  ];
  let text = "";
  for await (const event of model.stream({ messages, maxOutputTokens: maxTokens, task: "summary" }, { signal })) {
    if (event.type === "text") text += event.delta;
    if (event.type === "end" && event.reason !== "stop")
      throw new AppError("MODEL_UNAVAILABLE", { detail: "The model's summary was cut." });
  }
  const fitting = linesThatFit(text.trim(), maxTokens, counter);
  if (fitting === "") throw new AppError("MODEL_UNAVAILABLE", { detail: "The model wrote no summary." });
  return fitting;
}

/** The leading lines that fit; a model may count otherwise than the counter. */
export function linesThatFit(text: string, maxTokens: number, counter: TokenCounter): string {
  if (counter.count(text) <= maxTokens) return text;
  const kept: string[] = [];
  for (const line of text.split(/(?<=[.!?。！？])\s+|\n+/u)) {
    if (counter.count([...kept, line].join("\n")) > maxTokens) break;
    kept.push(line);
  }
  return kept.join("\n");
}
