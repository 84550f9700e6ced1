import type { PortableEntry } from "./portable-entries.js";

export interface EntryDifference {
  readonly key: string;
  /** Null where there is none. */
  readonly source: PortableEntry | null;
  readonly target: PortableEntry | null;
}

/** Where the one differs from the other, in the order of the keys; both come in it. */
export async function* entryDifferences(
  source: AsyncIterable<PortableEntry>,
  target: AsyncIterable<PortableEntry>,
): AsyncGenerator<EntryDifference> {
  const [ours, theirs] = [source[Symbol.asyncIterator](), target[Symbol.asyncIterator]()];
  try {
    let [one, other] = [await nextOf(ours), await nextOf(theirs)];
    while (one !== null || other !== null) {
      // Keys hold ASCII alone, whose order is the same in UTF-8 and UTF-16.
      const [isOurs, isTheirs]: readonly [boolean, boolean] = [
        one !== null && (other === null || one.key <= other.key),
        other !== null && (one === null || other.key <= one.key),
      ];
      const pair: readonly [PortableEntry | null, PortableEntry | null] = [isOurs ? one : null, isTheirs ? other : null];
      if (pair[0]?.value !== pair[1]?.value) yield { key: (pair[0] ?? pair[1])?.key ?? "", source: pair[0], target: pair[1] };
      if (isOurs) one = await nextOf(ours);
      if (isTheirs) other = await nextOf(theirs);
    }
  } finally {
    await ours.return?.();
    await theirs.return?.();
  }
}

async function nextOf(entries: AsyncIterator<PortableEntry>): Promise<PortableEntry | null> {
  const next = await entries.next();
  return next.done === true ? null : next.value;
}
