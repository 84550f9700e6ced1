/**
 * An agent of one's own with Maitred's memory: what is known goes into its prompt, what was said is given back, and Maitred answers
 * nothing. Runs without keys and servers: `npx tsx examples/own-agent.ts`. Over HTTP the same are POST /v1/context and
 * POST /v1/sessions/{id}/messages.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMaitred, type MaitredUser } from "maitred";

/** Yours: a framework's agent, or a call of a model. This one repeats what it was told of the guest. */
async function yourAgent(prompt: string, message: string): Promise<string> {
  const known = prompt.split("\n").filter((line) => line.startsWith("- "));
  return known.length === 0 ? `You said: ${message}` : `I know of you:\n${known.join("\n")}`;
}

async function turn(ada: MaitredUser, thread: string, message: string): Promise<string> {
  const { text } = await ada.context(message, { thread, maxTokens: 1_000 });
  const answer = await yourAgent(`You are a concierge.\n\n${text}`, message);
  const messages = [
    { role: "user" as const, content: message },
    { role: "assistant" as const, content: answer },
  ];
  await ada.add(messages, { thread });
  console.log(`Guest: ${message}\nAgent: ${answer}\n`);
  return answer;
}

const dir = await mkdtemp(join(tmpdir(), "maitred-own-agent-"));
const maitred = await createMaitred({ memoryStorageDir: dir, logLevel: "warn", recallDeadlineMs: 2_000 });
try {
  const ada = maitred.for({ user: "ada" });
  await turn(ada, "first", "I prefer jazz concerts, and I need step-free access.");
  await ada.sessions.flush({ thread: "first" }, { timeoutMs: 10_000 });

  const answer = await turn(ada, "second", "Anything good this weekend?");
  assert.match(answer, /step-free access \(accessibility, must hold\)/);
  assert.match(answer, /jazz/);
  console.log("The second session knows what the first was told.");
} finally {
  await maitred.close();
  await rm(dir, { recursive: true });
}
