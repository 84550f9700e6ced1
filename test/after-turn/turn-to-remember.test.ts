import { expect, test } from "vitest";
import { turnToRemember } from "../../src/after-turn/turn-to-remember.js";
import { JOURNAL_VERSION, type JournalRecord, journalRecordSchema } from "../../src/domain/session.js";
import { message, round } from "../support/rounds.js";

test("what was said off the record is no context of what is read after it", () => {
  const rounds = [1, 2, 3].flatMap((turn): JournalRecord[] => [round(turn).user, round(turn).assistant]);
  const body = { of_turn: 2, message_ids: ["user-2", "assistant-2"] };
  const mark = journalRecordSchema.parse({
    v: JOURNAL_VERSION,
    seq: 9,
    type: "off_record",
    id: "mark",
    turn: 3,
    at: rounds[5]?.at,
    body,
  });
  const user = message(4, "user", "and now?");
  const contextOf = (records: readonly JournalRecord[]) => turnToRemember("s", user, records, 3).context.map(({ content }) => content);
  expect(contextOf([...rounds, mark, user])).toEqual(["question 1", "answer 1", "question 3", "answer 3"]);
  expect(contextOf([...rounds, user])).toContain("question 2");
});
