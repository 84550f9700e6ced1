/** Files looked at together when a whole directory is gone through: enough to keep a disk busy, few enough for any limit on open files. */
export const LOOKS_AT_ONCE = 8;

/** Calls `look` for each item, some at a time. Rejects with the first error. */
export async function eachAtOnce<T>(items: readonly T[], look: (item: T) => Promise<void>): Promise<void> {
  const next = items.values();
  await Promise.all(
    Array.from({ length: LOOKS_AT_ONCE }, async () => {
      for (const item of next) await look(item);
    }),
  );
}
