import { checkModel } from "../agent/models/model-check.js";
import type { Config } from "../compose/config.js";
import { ownerOf } from "../domain/owner.js";
import type { Application } from "../ports/application.js";
import type { ChatModel, ModelMeasure } from "../ports/chat-model.js";
import { type Finding, failure, ok } from "./doctor.js";

/** The product over stores of its own, with the models that are configured. */
export interface Trial extends Pick<Application, "chat" | "imports" | "sessions" | "memories" | "events" | "close"> {
  readonly parts: {
    readonly models: {
      readonly chat: { readonly name: string; measured?(): ModelMeasure };
      readonly extraction: { readonly name: string; measured?(): ModelMeasure };
    };
  };
}

const GUEST = ownerOf("default", "doctor");
/** Something to find with a tool, and to remember: a taste, and what must hold for somebody else. */
const SAID = "I love jazz, and my mother, who comes along, can't manage stairs. Are there any concerts in Vienna?";
/** How long a reading is waited for, in milliseconds: a slow model takes minutes. */
const READ_MS = 20 * 60_000;
/** What holds the prompt, all tools in full and a few rounds, in tokens. */
const WHOLE_TOKENS = 8_192;
/** What writes slower keeps a guest waiting, in tokens a second. */
const SLOW = 10;
const LARGER = "OLLAMA_CONTEXT_LENGTH, llama.cpp's --ctx-size, vLLM's --max-model-len";

/** One turn of the product with its prompt and tools, and the reading of what it said: what is told here is what happens. */
export async function* trialFindings(trial: Trial, configuredTokens: number | undefined): AsyncGenerator<Finding> {
  const { chat, extraction } = trial.parts.models;
  const began = performance.now();
  let sessionId: string | null = null;
  try {
    const answer = await trial.chat.chat({ owner: GUEST, message: SAID });
    sessionId = answer.session_id;
    yield turnFinding(answer, performance.now() - began);
  } catch (error) {
    yield failure("Turn", error);
  }
  if (sessionId !== null) yield await readingFinding(trial, sessionId, extraction.name);
  yield windowFinding(chat.measured?.().contextTokens ?? null, configuredTokens);
  yield speedFinding(chat.measured?.(), sessionId !== null);
}

function turnFinding(answer: Awaited<ReturnType<Trial["chat"]["chat"]>>, ms: number): Finding {
  const finish = answer.message.metadata?.finish;
  const tools = answer.steps.length === 0 ? "" : `, with ${answer.steps.length} calls of tools`;
  const detail = `a guest's first message is answered with the product's prompt and tools${tools}, in ${seconds(ms)}`;
  if (finish !== "length" && finish !== "content_filter") return ok("Turn", detail);
  const advice =
    finish === "content_filter"
      ? "The provider's filter cuts what it takes offence at: guests are told that such an answer is half."
      : "Answers are bounded by the model's window, and by what it writes within MODEL_TIMEOUT_MS: raise that, or use a faster one.";
  return { check: "Turn", status: "warn", detail: `${detail}; its answer was cut`, advice };
}

async function readingFinding(trial: Trial, sessionId: string, name: string): Promise<Finding> {
  const began = performance.now();
  const { failed_turns: failed, pending_turns: pending } = await trial.sessions.flush(GUEST, sessionId, READ_MS);
  const took = seconds(performance.now() - began);
  if (failed + pending > 0) {
    const { data } = await trial.events.list("all", { limit: 200 });
    const code = data
      .flatMap(({ type, data: told }) => (type === "write_back.failed" && "error_code" in told ? [told.error_code] : []))
      .at(-1);
    const why = code === "CONTEXT_TOO_LARGE" ? "its window is too small to read a message" : "it does not write what a reading asks for";
    const advice =
      "No memories will be formed by it of what guests say: needs told plainly are asked about, and after three messages the stand-in " +
      "reads in its place, if @maitred/offline is installed. Use an EXTRACTION_MODEL that follows a JSON schema, of 4,096 tokens or more.";
    const detail =
      pending > 0 ? `${name} did not read a message within ${took}` : `${name} can't read messages: ${why} (${code ?? "failed"})`;
    return { check: "Memories", status: "fail", detail, advice };
  }
  const [active, waiting] = [await formed(trial, "active"), await formed(trial, "review")];
  const asked = waiting.length === 0 ? "" : `; the guest is asked about ${quoted(waiting)}`;
  if (active.length > 0) return ok("Memories", `${name} reads messages: of one it noted ${quoted(active)}, in ${took}${asked}`);
  const detail = `${name} reads messages, but of one it noted nothing by itself${asked}`;
  return {
    check: "Memories",
    status: "warn",
    detail,
    advice: `It was told: "${SAID}". Few memories will be formed. Use a larger EXTRACTION_MODEL.`,
  };
}

function quoted(texts: readonly string[]): string {
  return texts.map((text) => `"${text}"`).join(", ");
}

async function formed(trial: Trial, status: "active" | "review"): Promise<readonly string[]> {
  return (await trial.memories.list(GUEST, { status, limit: 20 })).data.map(({ text }) => text);
}

function windowFinding(tokens: number | null, configured: number | undefined): Finding {
  if (tokens === null) {
    const detail = "the endpoint does not tell how long it is; 128,000 tokens are assumed until it refuses some";
    const advice = "Set MODEL_CONTEXT_TOKENS to the model's own, lest a turn is asked for twice.";
    return { check: "Context", status: "warn", detail, advice };
  }
  const source = configured === tokens ? "MODEL_CONTEXT_TOKENS says" : "the endpoint tells";
  const isLess = configured !== undefined && tokens < configured;
  const detail = `${tokens.toLocaleString("en")} tokens at once, as ${source}${isLess ? ", and not what MODEL_CONTEXT_TOKENS says" : ""}`;
  if (tokens >= WHOLE_TOKENS) return ok("Context", detail);
  const short = "tools are told in short, and where not all fit those that a message is about; fewer rounds and known memories go along";
  const advice = `With ${WHOLE_TOKENS.toLocaleString("en")} or more nothing is left out (${LARGER}).`;
  return { check: "Context", status: "warn", detail: `${detail}: ${short}`, advice };
}

function speedFinding(measure: ModelMeasure | undefined, answered: boolean): Finding {
  const { inputPerSecond = null, outputPerSecond = null, measuredAt = null } = measure ?? {};
  if (outputPerSecond === null && answered) return ok("Speed", "too quick to be measured");
  if (outputPerSecond === null) {
    const advice = "If it is slow, raise MODEL_TIMEOUT_MS, or use a faster one.";
    return { check: "Speed", status: "warn", detail: "not measured, as no answer came", advice };
  }
  const reads = inputPerSecond === null ? "" : `reads about ${Math.round(inputPerSecond)} tokens a second, and `;
  const at = measuredAt === null ? "" : `, as measured on ${measuredAt.slice(0, "2027-03-28T09:05".length).replace("T", " at ")} UTC`;
  const detail = `${reads}writes about ${Math.round(outputPerSecond)}${inputPerSecond === null ? " tokens a second" : ""}${at}`;
  if (outputPerSecond >= SLOW) return ok("Speed", detail);
  const advice = "Guests wait for answers. Readings take their time, and give way to guests; a faster EXTRACTION_MODEL helps.";
  return { check: "Speed", status: "warn", detail, advice };
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

interface ModelDoctorParts {
  readonly readConfig: () => Config;
  readonly openModel: (config: Config) => Promise<ChatModel | null>;
  /** The product with that model, over nothing that stays. */
  readonly openTrial: (config: Config) => Promise<Trial>;
  readonly signal: AbortSignal;
}

/** `doctor --model`: what the configured model does, by small calls and by the product's own. Opens no store that stays. */
export async function* modelFindings({ readConfig, openModel, openTrial, signal }: ModelDoctorParts): AsyncGenerator<Finding> {
  let model: ChatModel | null;
  let config: Config;
  try {
    config = readConfig();
    yield ok("Configuration", `model ${config.LLM_PROVIDER}`);
    model = await openModel(config);
  } catch (error) {
    yield failure("Configuration", error);
    return;
  }
  if (model === null) {
    const advice = "Set OPENAI_API_KEY, OPENAI_BASE_URL or LLM_PROVIDER to connect one.";
    yield { check: "Model", status: "warn", detail: "none is configured: a rule-based stand-in answers", advice };
    return;
  }
  let answers = true;
  for await (const finding of checkModel(model, signal)) {
    answers &&= finding.check !== "Model" || finding.status !== "fail";
    yield finding;
  }
  if (!answers) return;
  const trial = await openTrial(config);
  try {
    yield* trialFindings(trial, config.MODEL_CONTEXT_TOKENS);
  } finally {
    await trial.close({ drainMs: 0 });
  }
}
