import { checkModel } from "../agent/models/model-check.js";
import type { Config } from "../compose/config.js";
import type { ChatModel } from "../ports/chat-model.js";
import { type Finding, failure, ok, report, type Strictness } from "./doctor.js";
import type { ExitCode } from "./exit-codes.js";
import type { Terminal } from "./terminal.js";

export interface ModelDoctorParts extends Strictness {
  readonly readConfig: () => Config;
  readonly openModel: (config: Config) => Promise<ChatModel | null>;
  readonly signal: AbortSignal;
}

/** `doctor --model`: what the configured model does, by small real calls. Opens no store. */
export function modelDoctorCommand(terminal: Terminal, parts: ModelDoctorParts): Promise<ExitCode> {
  return report(terminal, examine(parts), parts);
}

async function* examine({ readConfig, openModel, signal }: ModelDoctorParts): AsyncGenerator<Finding> {
  let model: ChatModel | null;
  try {
    const config = readConfig();
    yield ok("Configuration", `model ${config.LLM_PROVIDER}`);
    model = await openModel(config);
  } catch (error) {
    yield failure("Configuration", error);
    return;
  }
  if (model !== null) yield* checkModel(model, signal);
  else {
    const advice = "Set OPENAI_API_KEY, OPENAI_BASE_URL or LLM_PROVIDER to connect one.";
    yield { check: "Model", status: "warn", detail: "none is configured: a rule-based stand-in answers", advice };
  }
}
