/**
 * Server-sent events of a response's body, as `{ event, data }`; comments are passed over. Ends where the stream does. `onBytes`: called
 * with whatever comes, a comment too: by these one tells a stream that has nothing to say from one that is dead.
 */
export async function* eventsIn(stream, onBytes = () => {}) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onBytes();
    rest += value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const lines = block.split("\n");
      const event = lines.find((line) => line.startsWith("event: "))?.slice(7);
      const data = lines.find((line) => line.startsWith("data: "))?.slice(6);
      if (event && data) yield { event, data: JSON.parse(data) };
    }
  }
}
