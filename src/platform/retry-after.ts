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
