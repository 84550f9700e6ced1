import { expect, test } from "vitest";
import { isCompleted, recordedTurn } from "../../../src/domain/recorded-turn.js";
import type { JournalRecord, NewRecord } from "../../../src/domain/session.js";
import { JournalRecords } from "../../support/journal-records.js";

const numbered = (records: readonly NewRecord[]) => records.map((record, place) => ({ v: 1, seq: place + 1, ...record }) as JournalRecord);

test("[unknown-outcome-looked-up] a failure that stands behind a turn's answer takes nothing from it; an answer behind a failure is the turn's", () => {
  const records = new JournalRecords();
  const [asked, step, answer] = [records.user(1, "hello"), records.step(1), records.assistant(1)];
  const failed = records.assistant(1, "failed", "half an");
  const answered = recordedTurn(numbered([asked, step, answer, failed]), 1);
  expect(answered !== null && isCompleted(answered)).toBe(true);
  expect([answered?.assistant?.id, answered?.steps.length]).toEqual([answer.id, 1]);
  const retried = recordedTurn(numbered([asked, step, failed, answer]), 1);
  expect([retried?.assistant?.id, retried?.steps.length]).toEqual([answer.id, 0]);
});
