import { afterAll, beforeAll, expect, test } from "vitest";
import { needQuoted, TaskModel } from "../support/task-model.js";
import { World } from "./world.js";

const UNSURE = "I might be allergic to nuts";
const model = new TaskModel();
model.read = ({ MESSAGE }) => {
  const operations = MESSAGE === UNSURE ? [{ ...needQuoted(UNSURE, "nuts", "no_nuts"), stance: "unsure" }] : [];
  return { off_record: null, operations };
};

let world: World;
beforeAll(async () => {
  world = await World.open({}, { model });
});
afterAll(() => world.close());

/** What the model is told waits for the guest's word, in the turn that was answered last. */
const toldToWait = () =>
  /\nTo confirm:\n(?<lines>(?:- .*\n)+)/u.exec(model.of("chat").at(-1)?.messages.at(-1)?.content ?? "")?.groups?.lines;

/** Both answers that may ask about it have. */
async function askedTwice() {
  const ada = world.guest();
  await ada.says(UNSURE);
  for (const [n, message] of ["What is on tonight?", "And tomorrow?"].entries()) {
    const answer = await ada.says(message);
    expect(answer.memory.to_confirm, `answer ${n}`).toHaveLength(1);
  }
  const [memory] = await ada.memories({ status: "review" });
  return { ada, id: memory?.id ?? "" };
}

test("[answered-after-the-last-question] a yes to what was asked for the last time is settled", async () => {
  const { ada, id } = await askedTwice();
  model.replies.push({ name: "settle_memory", arguments: { answers: [{ memory_id: id, answer: "yes", quote: "yes" }] } }, "Thank you.");
  await ada.says("yes");
  expect(await ada.holds()).toEqual(["Needs: nuts"]);
});

test("[answered-after-the-last-question] it is told once more, as what isn't asked about again, and then no more", async () => {
  const { ada, id } = await askedTwice();
  const answer = await ada.says("Thanks, and on Sunday?");
  expect(toldToWait()).toBe(`- ${id}: Needs: nuts (dietary, must hold; asked already: not to be asked again)\n`);
  expect(answer.memory.to_confirm).toEqual([]);
  await ada.says("And on Monday?");
  expect(toldToWait()).toBeUndefined();
  expect(await ada.memories({ status: "review" })).toMatchObject([{ id }]);
});
