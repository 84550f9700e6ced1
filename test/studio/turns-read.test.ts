import { expect, test } from "vitest";
import type { JournalRecord } from "../../src/domain/session.js";
import { turnsOf } from "../../src/operations/studio/turns-read.js";

const message = (turn: number, role: "user" | "assistant", content: string) =>
  ({
    type: "message",
    id: `${role}-${turn}`,
    turn,
    at: "2026-03-01T10:00:00Z",
    body: { role, content, metadata: {} },
  }) as unknown as JournalRecord;
const writtenBack = (turn: number) =>
  ({
    type: "write_back_done",
    id: `w-${turn}`,
    turn,
    at: "2026-03-01T10:00:00Z",
    body: { status: "done", attempts: 1 },
  }) as unknown as JournalRecord;

/** As turns follow one another: each is written back while the next, or the one behind it, is said. */
const JOURNAL = [
  message(1, "user", "one"),
  message(1, "assistant", "1"),
  message(2, "user", "two"),
  writtenBack(1),
  message(2, "assistant", "2"),
  message(3, "user", "three"),
  message(3, "assistant", "3"),
  writtenBack(2),
  writtenBack(3),
];
async function* newestFirst() {
  yield* JOURNAL.toReversed();
}

test("one turn is read whole, whatever was written between its messages and behind them", async () => {
  for (const turn of [1, 2, 3]) {
    const { turns } = await turnsOf(newestFirst(), { limit: 1, before: turn + 1 });
    expect(turns.map((each) => [each.turn, each.recorded?.user.id, each.answer?.id, each.writeBack?.status])).toEqual([
      [turn, `user-${turn}`, `assistant-${turn}`, "done"],
    ]);
  }
  const { turns, more } = await turnsOf(newestFirst(), { limit: 2 });
  expect([turns.map(({ turn }) => turn), more]).toEqual([[3, 2], true]);
});
