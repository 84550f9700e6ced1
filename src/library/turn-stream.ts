import type { ChatEvent } from "../ports/application.js";
import type { ChatAnswer } from "../ports/resources.js";

/** What a streamed turn tells: `session`, `memory`, then steps and tokens as they come, and `message`, the whole answer, last. */
export type StreamEvent = ChatEvent | { readonly type: "message"; readonly answer: ChatAnswer };

type Turn = (options: { readonly signal: AbortSignal; readonly onEvent: (event: ChatEvent) => Promise<void> }) => Promise<ChatAnswer>;

/**
 * A turn's events as they come. The turn begins with the first event that is asked for, and waits while nobody asks: nothing piles up.
 * Whoever breaks off aborts it. @throws what the turn throws
 */
export async function* streamOf(turn: Turn, signal: AbortSignal | undefined): AsyncGenerator<StreamEvent, void, undefined> {
  const left = new AbortController();
  let taken = () => {};
  let arrived: (event: ChatEvent | null) => void = () => {};
  const next = () =>
    new Promise<ChatEvent | null>((resolve) => {
      arrived = resolve;
    });
  const onEvent = (event: ChatEvent) =>
    new Promise<void>((resolve) => {
      taken = resolve;
      arrived(event);
      if (left.signal.aborted) resolve();
    });
  let waiting = next();
  const answered = turn({ signal: signal ? AbortSignal.any([signal, left.signal]) : left.signal, onEvent }).finally(() => arrived(null));
  // Thrown below, where it is awaited.
  answered.catch(() => {});
  try {
    for (let event = await waiting; event !== null; event = await waiting) {
      yield event;
      waiting = next();
      taken();
    }
    yield { type: "message", answer: await answered };
  } finally {
    left.abort();
    taken();
    await answered.catch(() => {});
  }
}
