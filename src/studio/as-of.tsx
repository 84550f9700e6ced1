import type { ComponentProps } from "preact";
import { Changes } from "./change-card.js";
import { type Change, client, type OwnerName } from "./client.js";
import { Empty, Section, Shown } from "./parts.js";
import { useLoaded } from "./use-loaded.js";

/** Memories that are compared at most: a difference of more is read by nobody. */
const MOST = 200;

/** After these nothing is held any more. */
const GONE = new Set(["ended", "expired", "superseded", "forgotten", "rejected", "waits"]);

/** What held at a moment: of each memory what was last said of it, as far as it was not over. */
async function heldAt(owner: OwnerName, at: Date, signal: AbortSignal) {
  const latest = new Map<string, Change>();
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof client.timeline>> = await client.timeline(owner, at.toISOString(), cursor, signal);
    for (const change of page.data) {
      const name = change.memory_id ?? `${change.at} ${change.text}`;
      if (!latest.has(name)) latest.set(name, change);
    }
    cursor = page.next_cursor;
  } while (cursor !== null && latest.size < MOST);
  return { memories: [...latest.values()].filter(({ event }) => event === null || !GONE.has(event)), whole: cursor === null };
}

/** What was known at an earlier moment, and what is another now. */
export function AsOf({ owner, at }: { readonly owner: OwnerName; readonly at: Date }) {
  const both = useLoaded(`${owner.tenant}/${owner.user}/${at.toISOString()}`, async (signal) => {
    const [then, now] = await Promise.all([heldAt(owner, at, signal), heldAt(owner, new Date(), signal)]);
    return { then, now };
  });
  return (
    <Shown of={both}>
      {({ then, now }) => {
        const idsOf = (memories: readonly Change[]) => new Set(memories.map(({ memory_id }) => memory_id));
        const [before, after] = [idsOf(then.memories), idsOf(now.memories)];
        const shared = { owner, among: [...then.memories, ...now.memories] };
        return (
          <>
            {!(then.whole && now.whole) && <Empty>Only the latest {MOST} are compared.</Empty>}
            <Group title="Held then, and no longer" of={then.memories.filter(({ memory_id }) => !after.has(memory_id))} {...shared} />
            <Group title="Held then, and now" of={then.memories.filter(({ memory_id }) => after.has(memory_id))} {...shared} />
            <Group title="New since" of={now.memories.filter(({ memory_id }) => !before.has(memory_id))} {...shared} />
          </>
        );
      }}
    </Shown>
  );
}

type GroupProps = ComponentProps<typeof Changes> & { readonly title: string };

const Group = ({ title, ...changes }: GroupProps) => (
  <Section title={changes.of.length === 0 ? title : `${title} (${changes.of.length})`}>
    <Changes {...changes} />
  </Section>
);
