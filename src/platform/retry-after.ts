/**
 * How long a service asks to wait, in milliseconds: its `retry-after-ms`, else its `Retry-After`, which is seconds or a date; null where it
 * doesn't ask. `header`: of its answer.
 */
export function retryAfterMs(header: (name: string) => string | null | undefined): number | null {
  const exact = Number(header("retry-after-ms") || Number.NaN);
  if (Number.isFinite(exact) && exact >= 0) return exact;
  const told = header("retry-after") ?? "";
  if (told.trim() === "") return null;
  const seconds = Number(told);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(told) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

/** Of an error body, in characters. */
const MAX_ERROR_CHARS = 64 * 1024;

/** The openai SDK reads no error body without an `error` key: it is handed the whole body under one. */
export async function withRawError(response: Response): Promise<Response> {
  if (response.ok) return response;
  const raw = (await response.text().catch(() => "")).slice(0, MAX_ERROR_CHARS);
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  headers.delete("content-encoding");
  headers.set("content-type", "application/json");
  return new Response(JSON.stringify({ error: { raw } }), { status: response.status, headers });
}
