import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TurnRecording, type TurnRecordingParts } from "../../src/after-turn/turn-recording.js";
import { ownerOf } from "../../src/domain/owner.js";
import { systemClock } from "../../src/platform/clock.js";
import { silentLogger } from "../../src/platform/logger.js";
import type { EndedTurn } from "../../src/ports/turn-records.js";

const ADA = ownerOf("default", "ada");

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function recording(put: TurnRecordingParts["records"]["put"]) {
  const warn = vi.fn();
  const turns = new TurnRecording({
    records: { put },
    conversations: { touched: () => {} },
    plots: { add: () => {} },
    begin: () => ({ end: () => {} }),
    clock: systemClock,
    logger: { ...silentLogger, warn },
  });
  return { turns, warn };
}

function ended(turn: number): EndedTurn {
  return {
    session_id: "s",
    turn,
    outcome: "completed",
    errorCode: null,
    model: "m",
    incognito: false,
    memoryStatus: "ok",
    recalled: [],
    heldBack: null,
    firstTokenMs: 1,
    totalMs: 2,
    cachedTokens: null,
    timings: [],
    blocks: () => [{ name: "rounds", hash: "stands for them", tokens: 7, chars: 4_000 }],
  };
}

test("an answer and its write-back within a moment are one write; a piece that stands for a longer one has the length of that", async () => {
  const put = vi.fn(async () => {});
  const { turns } = recording(put);
  turns.turnEnded(ADA, ended(1));
  await turns.writeBack({ owner: ADA, sessionId: "s", turn: 1, attempts: 0, errorCode: null } as never, async () => "done");
  await turns.settled();
  expect(put.mock.calls).toEqual([
    [
      ADA,
      "s",
      new Map([
        [
          1,
          {
            turn: expect.objectContaining({ prompt_blocks: [expect.objectContaining({ chars: 4_000, tokens: 7 })] }),
            writeBack: expect.anything(),
          },
        ],
      ]),
    ],
  ]);
});

test("turns that are recorded don't pile up behind a store that never answers", async () => {
  const put = vi.fn(() => new Promise<void>(() => {}));
  const { turns, warn } = recording(put);
  for (let turn = 1; turn <= 5_000; turn++) {
    turns.turnEnded(ADA, ended(turn));
    if (turn % 100 === 0) await vi.advanceTimersByTimeAsync(5_000);
  }
  expect(warn).toHaveBeenCalledTimes(3_000);
});
