/**
 * Text chunks as a web stream, pulled as the reader takes them. The first chunk is fetched before this resolves, so that
 * what fails at once is an ordinary problem; what fails later breaks the stream off, never ends it as if it were whole.
 */
export async function textStream(chunks: AsyncIterable<string>): Promise<ReadableStream<Uint8Array>> {
  const iterator = chunks[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  let next: IteratorResult<string> | null = await iterator.next();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const result = next ?? (await iterator.next());
        next = null;
        if (result.done) controller.close();
        else controller.enqueue(encoder.encode(result.value));
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
