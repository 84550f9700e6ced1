import { checkModel } from "../agent/models/model-check.js";
import type { Config } from "../compose/config.js";
import type { ChatModel } from "../ports/chat-model.js";
import { type Finding, failure, ok, report, type Strictness } from "./doctor.js";
import { type Trial, trialFindings } from "./doctor-trial.js";
import type { ExitCode } from "./exit-codes.js";
import type { Terminal } from "./terminal.js";

export interface ModelDoctorParts extends Strictness {
  readonly readConfig: () => Config;
  readonly openModel: (config: Config) => Promise<ChatModel | null>;
  /** The product with that model, over nothing that stays. */
  readonly openTrial: (config: Config) => Promise<Trial>;
  readonly signal: AbortSignal;
}

/** `doctor --model`: what the configured model does, by small calls and by the product's own. Opens no store that stays. */
export function modelDoctorCommand(terminal: Terminal, parts: ModelDoctorParts): Promise<ExitCode> {
  return report(terminal, examine(parts), parts);
}

async function* examine({ readConfig, openModel, openTrial, signal }: ModelDoctorParts): AsyncGenerator<Finding> {
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
