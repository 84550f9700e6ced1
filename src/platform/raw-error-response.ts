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
