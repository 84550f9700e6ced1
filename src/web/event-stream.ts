/** The server sends something every 15 seconds, at least a comment. */
export const QUIET_MS = 25_000;

/** Calls `onQuiet` once `heard` has not been called for so many milliseconds, and again after it was; they are what it was last given. */
export function quietWatch(onQuiet: () => void, ms = QUIET_MS) {
  let timer: ReturnType<typeof setTimeout>;
  const end = () => clearTimeout(timer);
  const heard = (next = ms) => {
    ms = next;
    end();
    timer = setTimeout(onQuiet, ms);
  };
  heard();
  return { heard, end };
}

/**
 * Server-sent events of a response's body; comments are passed over. Ends where the stream does. `onBytes`: called with whatever comes, a
 * comment too: by these one tells a stream that has nothing to say from one that is dead.
 */
export async function* eventsIn(
  response: Response,
  onBytes: () => void,
): AsyncGenerator<{ readonly event: string; readonly data: unknown }> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) return;
    onBytes();
    rest += value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const lines = block.split("\n");
      const field = (name: string) => lines.find((line) => line.startsWith(name))?.slice(name.length);
      const [event, data] = [field("event: "), field("data: ")];
      if (event && data) yield { event, data: JSON.parse(data) };
    }
  }
}
