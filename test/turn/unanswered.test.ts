import { expect, test } from "vitest";
import { ownerOf } from "../../src/domain/owner.js";
import { AppError } from "../../src/platform/errors.js";
import { newId } from "../../src/platform/ids.js";
import type { AgentInput } from "../../src/ports/agent.js";
import type { ChatEvent } from "../../src/ports/application.js";
import { CONTEXT_HEADINGS, messageIn } from "../../src/ports/context-headings.js";
import { makeOrchestrator } from "../support/orchestrator.js";

const ada = ownerOf("default", "ada");

/** A conversation whose model fails for what begins with "fail". `told`: the unanswered messages that the last turn was given. */
async function conversation() {
  const earlier: (readonly string[] | undefined)[] = [];
  const made = await makeOrchestrator(async (input, context) => {
    earlier.push(context.earlierMessages);
    if (input.question.startsWith("fail")) throw new AppError("MODEL_UNAVAILABLE");
    return "Yes.";
  });
  let sessionId: string | undefined;
  let last = "";
  const say = async (message: string, more: { readonly editOf?: string } = {}) => {
    const onEvent = (event: ChatEvent) => {
      if (event.type !== "session") return;
      sessionId = event.session_id;
      last = event.user_message_id;
    };
    await made.chat.chat({ owner: ada, message, ...(sessionId && { sessionId }), ...more }, { onEvent }).catch(() => undefined);
    return last;
  };
  return { ...made, say, earlier, told: () => toldIn(made.seen.at(-1)), session: () => sessionId ?? "" };
}

function toldIn(input: AgentInput | undefined): readonly string[] {
  const sent = input?.messages.at(-1)?.content ?? "";
  const [, block = ""] = sent.slice(0, sent.length - messageIn(sent).length).split(`${CONTEXT_HEADINGS.unanswered}\n`);
  return (
    block
      .split("\n\n")[0]
      ?.split("\n")
      .filter((line) => line.startsWith("- "))
      .map((line) => line.slice(2)) ?? []
  );
}

test("what was said in a turn that failed is told to the next, beside the window, and no more once that is answered", async () => {
  const { say, told, seen, earlier } = await conversation();
  await say("Hello");
  await say("fail: I'm in a wheelchair, book the jazz");
  await say("Again, please");
  expect(told()).toEqual(["fail: I'm in a wheelchair, book the jazz"]);
  expect(seen.at(-1)?.previous_conversation.map(({ user }) => user.body.content)).toEqual(["Hello"]);
  expect(seen.at(-1)?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
  expect(earlier.at(-1)).toEqual(["Hello", "fail: I'm in a wheelchair, book the jazz"]);
  await say("And now?");
  expect(told()).toEqual([]);
});

test("of several in a row the newest three are told, in order", async () => {
  const { say, told } = await conversation();
  for (const n of [1, 2, 3, 4]) await say(`fail ${n}`);
  await say("Again, please");
  expect(told()).toEqual(["fail 2", "fail 3", "fail 4"]);
});

test("a message that was said differently is not told in its first words, nor what was forgotten, nor what was off the record", async () => {
  const { say, told, ledger, store, session } = await conversation();
  const first = await say("fail: the opera");
  await say("The opera, please", { editOf: first });
  expect(told()).toEqual([]);

  const forgotten = await say("fail: my secret");
  await say("fail: the theatre");
  await ledger.addTombstone(ada, { memoryId: "m", textHash: "", messageIds: [forgotten], at: new Date().toISOString() });
  await say("Again, please");
  expect(told()).toEqual(["fail: the theatre"]);

  await say("fail: keep this out");
  const { lastTurn: turn } = await store.journal.window(ada, session(), { rounds: 1 });
  const at = new Date().toISOString();
  await store.journal.append(ada, session(), [{ type: "off_record", id: newId(), turn, at, body: { of_turn: turn, message_ids: [] } }]);
  await say("Again, please");
  expect(told()).toEqual([]);
});

test("long ones are cut to their share of what the model is given", async () => {
  const { say, told, seen } = await conversation();
  for (const n of [1, 2, 3]) await say(`fail ${n} ${"word ".repeat(7_000)}`);
  await say("Again, please");
  expect(told()).toHaveLength(3);
  expect(seen.at(-1)?.messages.at(-1)?.content.length).toBeLessThan(20_000);
});
