/** Bytes of the texts of one request: services cap it (OpenAI: 300,000 tokens). */
const MAX_BATCH_BYTES = 200_000;

/** In order, at most `maxTexts` and some 200,000 bytes at a time. */
export function* textBatches(texts: readonly string[], maxTexts: number): Generator<readonly string[]> {
  let batch: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(text);
    if (batch.length > 0 && (batch.length >= maxTexts || bytes + size > MAX_BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(text);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
