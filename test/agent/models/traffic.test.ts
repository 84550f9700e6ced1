import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ProviderEvent } from "../../../src/agent/models/answer-sorter.js";
import { Traffic, type Watch } from "../../../src/agent/models/traffic.js";
import type { ModelEvent } from "../../../src/ports/chat-model.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

const pause = (ms: number, signal?: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

/** An answer whose first piece comes after one time, and its end after another. */
async function* pieces(firstMs: number, endMs: number, signal?: AbortSignal): AsyncGenerator<ProviderEvent> {
  await pause(firstMs, signal);
  yield { type: "text", delta: "Very " };
  await pause(endMs - firstMs, signal);
  yield { type: "end", reason: "stop", usage: { input_tokens: 1, output_tokens: 1 } };
}

async function* through(events: AsyncIterable<ProviderEvent>): AsyncGenerator<ModelEvent> {
  for await (const event of events) if (event.type === "end") yield event;
}

async function read(events: AsyncIterable<ModelEvent>): Promise<void> {
  for await (const _ of events);
}

function rig() {
  const traffic = new Traffic();
  const never = new AbortController().signal;
  const opened: AbortSignal[] = [];
  const reading = (endMs: number) =>
    read(
      traffic.behind((watch: Watch, signal) => {
        opened.push(signal);
        return through(watch(pieces(100, endMs, signal)));
      }, never),
    );
  const answer = (firstMs: number, endMs: number) => read(traffic.answer((watch) => through(watch(pieces(firstMs, endMs)))));
  return { reading, answer, opened };
}

test("[slow-reader] a guest's answer that waits behind a reading breaks it off; it begins anew once the answer is over", async () => {
  const { reading, answer, opened } = rig();
  const read = reading(10_000);
  await vi.advanceTimersByTimeAsync(500);
  const answered = answer(4_000, 5_000);
  await vi.advanceTimersByTimeAsync(1_499);
  expect(opened[0]?.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(opened[0]?.aborted).toBe(true);
  await vi.advanceTimersByTimeAsync(3_500);
  await answered;
  expect(opened).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(10_500);
  await read;
  expect(opened).toHaveLength(2);
});

test("[slow-reader] where that was needed once, readings come one at a time", async () => {
  const { reading, answer, opened } = rig();
  const readings = [reading(10_000), reading(10_000)];
  const answered = answer(4_000, 5_000);
  await vi.advanceTimersByTimeAsync(5_500);
  await answered;
  expect(opened).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(opened).toHaveLength(4);
  await vi.advanceTimersByTimeAsync(10_000);
  await Promise.all(readings);
});

test("[slow-reader] where answers come beside each other no reading is broken off, however long a guest's answer takes to begin", async () => {
  const { reading, answer, opened } = rig();
  const read = reading(60_000);
  await vi.advanceTimersByTimeAsync(500);
  const shown = answer(200, 300);
  await vi.advanceTimersByTimeAsync(300);
  await shown;
  const answered = answer(8_000, 9_000);
  await vi.advanceTimersByTimeAsync(60_000);
  await Promise.all([read, answered]);
  expect(opened).toHaveLength(1);
  expect(opened[0]?.aborted).toBe(false);
});
