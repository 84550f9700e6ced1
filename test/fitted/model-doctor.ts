import { parseConfig } from "../../src/compose/config.js";
import { openConfiguredModel } from "../../src/compose/models.js";
import { openTrial } from "../../src/compose/trial.js";
import { silentLogger } from "../../src/platform/logger.js";
import { run } from "../cli/run.js";

/** `maitred doctor --model` of the model at an address. */
export async function modelDoctor(url: string, variables: Readonly<Record<string, string>> = {}) {
  const config = parseConfig({ OPENAI_BASE_URL: url, OPENAI_MODEL: "m", ...variables });
  return run(["doctor", "--model"], {
    parts: {
      readConfig: () => config,
      openModel: (it) => openConfiguredModel(it, silentLogger),
      openTrial: (it) => openTrial(it, silentLogger),
    },
  });
}
