/**
 * How much of a request a provider's cache can have from the one before: the mean over all but the first of (length of what both begin
 * with) / (length of the request), in characters. `bodies`: as they are sent, in order; tools are put first, as providers do. 0 to 1; 0
 * for fewer than two. Bodies that name messages otherwise than `messages` or `input` are compared as they are.
 */
export function stablePrefix(bodies: readonly unknown[]): number {
  const texts = bodies.map(serialised);
  const shares = texts.slice(1).map((text, index) => sharedLength(texts[index] ?? "", text) / Math.max(1, text.length));
  return shares.length === 0 ? 0 : shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

function serialised(body: unknown): string {
  if (typeof body !== "object" || body === null) return JSON.stringify(body) ?? "";
  const { tools, instructions, messages, input, ...rest } = body as Record<string, unknown>;
  const said = messages ?? input;
  return JSON.stringify(said === undefined ? rest : [tools ?? [], instructions ?? "", said]);
}

function sharedLength(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  let at = 0;
  while (at < end && a[at] === b[at]) at += 1;
  return at;
}
