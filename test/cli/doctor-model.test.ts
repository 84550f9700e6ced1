import { afterEach, expect, test } from "vitest";
import { parseConfig } from "../../src/compose/config.js";
import { openConfiguredModel } from "../../src/compose/models.js";
import { openTrial } from "../../src/compose/trial.js";
import { silentLogger } from "../../src/platform/logger.js";
import { type FormServer, openFormServer } from "../support/providers/form-server.js";
import { FORMS, type Form } from "../support/providers/forms.js";
import { run } from "./run.js";

let server: FormServer | undefined;
afterEach(() => server?.close());

async function doctor(form: Form) {
  server = await openFormServer(form);
  const config = parseConfig({ OPENAI_BASE_URL: server.url, OPENAI_MODEL: "m" });
  return run(["doctor", "--model"], {
    parts: {
      readConfig: () => config,
      openModel: (it) => openConfiguredModel(it, silentLogger),
      openTrial: (it) => openTrial(it, silentLogger),
    },
  });
}

test("[doctor-true] tells in words what works, and opens no store: JSON alone, that says nothing of the message, is no reading", async () => {
  const ran = await doctor({ name: "all" });
  expect(ran).toMatchObject({ code: 6, closed: 0 });
  expect(ran.stdout).toMatch(/✓ Model: m answers/);
  expect(ran.stdout).toMatch(/✓ Turn:/);
  expect(ran.stdout).toMatch(/✗ Memories: m can't read messages/);
  expect(ran.stdout).toMatch(/! Context: the endpoint does not tell.*\n.*MODEL_CONTEXT_TOKENS/);
});

test("tells what a model can't do, and what to set", async () => {
  const gemma = FORMS.find(({ takesNoTools }) => takesNoTools);
  const ran = await doctor(gemma ?? { name: "none" });
  expect(ran.stdout).toMatch(/! Tools: no tool was called.*\n.*Use a model that calls tools/);
  expect(ran.stdout).toMatch(/takes no tools/);
});

test("tells a key that is refused", async () => {
  const ran = await doctor({ name: "no", refuses: () => [401, { error: { message: "Incorrect API key provided" } }] });
  expect(ran.code).toBe(6);
  expect(ran.stdout).toMatch(/✗ Model: MODEL_REFUSED_REQUEST.*\n.*OPENAI_API_KEY/);
});

test("without a model there is nothing to ask", async () => {
  const ran = await run(["doctor", "--model"], {});
  expect(ran.stdout).toMatch(/! Model: none is configured/);
});
