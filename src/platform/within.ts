/** What `work` gives, or `late` when the time is up: it then goes on, and nobody waits for it. @throws what it throws before */
export async function within<T, L>(ms: number, work: Promise<T>, late: L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<L>((resolve) => {
    timer = setTimeout(() => resolve(late), ms);
  });
  return Promise.race([work, timeUp]).finally(() => clearTimeout(timer));
}
