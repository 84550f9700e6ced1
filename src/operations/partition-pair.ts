import type { MovableState, ReadableState } from "../ports/transfer.js";
import { prefixRange } from "../state/engine.js";
import { JOURNALS, journalPrefix, SESSIONS, TRASH } from "../state/sessions/keys.js";
import { rowOf, type SessionRow } from "../state/sessions/session-row.js";
import { PartitionReader } from "./partition-reader.js";
import { type PortableEntry, portable, sessionOf } from "./portable-entries.js";

/** A partition in the store that it is moved from, and in the one that it is moved to. */
export class PartitionPair {
  readonly partition: string;
  readonly source: ReadableState;
  readonly target: MovableState;
  readonly from: PartitionReader;
  readonly to: PartitionReader;
  /** Whether journals are moved record by record: where they are not rows like others in both stores. */
  readonly byRecord: boolean;
  /** Sessions of the source whose journals are moved so, and whether each is archived. */
  readonly sessions: ReadonlyMap<string, boolean>;

  private constructor(source: ReadableState, target: MovableState, partition: string, sessions: ReadonlyMap<string, boolean> | null) {
    this.source = source;
    this.target = target;
    this.partition = partition;
    this.from = new PartitionReader(source, partition);
    this.to = new PartitionReader(target, partition);
    this.byRecord = sessions !== null;
    this.sessions = sessions ?? new Map();
  }

  static async of(source: ReadableState, target: MovableState, partition: string, signal: AbortSignal): Promise<PartitionPair> {
    const byRecord = source.journals.keptIn === "files" || target.journals.keptIn === "files";
    return new PartitionPair(source, target, partition, byRecord ? await sessionsIn(source, partition, signal) : null);
  }

  /** Sessions that the target alone has, and whose journals it keeps in files. */
  async surplusFiles(signal: AbortSignal): Promise<readonly string[]> {
    if (this.target.journals.keptIn === "rows") return [];
    return [...(await sessionsIn(this.target, this.partition, signal)).keys()].filter((id) => !this.sessions.has(id));
  }

  /** `each`: is told of all entries of both that are compared, in the order of their keys on each side. */
  async *differences(signal: AbortSignal, each: (entry: PortableEntry, side: 0 | 1) => void = () => {}): AsyncGenerator<EntryDifference> {
    const { byRecord: withoutJournals } = this;
    const ours = portable(this.from.entries(signal), { withoutJournals, except: (key) => this.#isOfJournals(key) });
    // What else is left there of journals is in the way.
    const kept = withoutJournals ? await this.#journalsKept(signal) : new Set<string>();
    const isKept = (key: string) => kept.has(key.slice(0, key.lastIndexOf("/") + 1));
    const theirs = portable(this.to.entries(signal), { withoutJournals, except: isKept });
    yield* entryDifferences(
      told(ours, (entry) => each(entry, 0)),
      told(theirs, (entry) => each(entry, 1)),
    );
  }

  #isOfJournals(key: string): boolean {
    return this.byRecord && (key.startsWith(JOURNALS) || key.startsWith(TRASH));
  }

  /** What keys of the target begin with that are of the journals as its own store has them. */
  async #journalsKept(signal: AbortSignal): Promise<ReadonlySet<string>> {
    const kept = new Set<string>();
    if (this.target.journals.keptIn === "files") return kept;
    for await (const { sessionId, row } of sessionRows(this.target, this.partition, signal))
      if (row.generation !== "" && this.sessions.has(sessionId)) kept.add(journalPrefix(sessionId, row.generation));
    return kept;
  }
}

async function sessionsIn(state: ReadableState, partition: string, signal: AbortSignal): Promise<ReadonlyMap<string, boolean>> {
  const found = new Map<string, boolean>();
  for await (const { sessionId, row } of sessionRows(state, partition, signal))
    found.set(sessionId, row.state?.session.status === "archived");
  return found;
}

async function* sessionRows(
  state: ReadableState,
  partition: string,
  signal: AbortSignal,
): AsyncGenerator<{ readonly sessionId: string; readonly row: SessionRow }> {
  for await (const entry of portable(new PartitionReader(state, partition).entries(signal, prefixRange(SESSIONS)))) {
    const sessionId = sessionOf(entry.key);
    if (sessionId !== null) yield { sessionId, row: rowOf(entry) };
  }
}

async function* told<T>(items: AsyncIterable<T>, each: (item: T) => void): AsyncGenerator<T> {
  for await (const item of items) {
    each(item);
    yield item;
  }
}

interface EntryDifference {
  readonly key: string;
  /** Null where there is none. */
  readonly source: PortableEntry | null;
  readonly target: PortableEntry | null;
}

/** Where the one differs from the other, in the order of the keys; both come in it. */
async function* entryDifferences(
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
