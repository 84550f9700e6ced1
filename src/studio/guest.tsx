import type { ComponentProps } from "preact";
import { useState } from "preact/hooks";
import { Button, Facts } from "../web/controls.js";
import { type BookingReceipt, type Change, client, type OwnerName } from "./client.js";
import { momentOf, timeOf } from "./format.js";
import { Empty, Heading, Link, List, Paged, Section, Shown } from "./parts.js";
import { addressOf, route, setQuery } from "./route.js";
import { Anything, Code, Figure, Name, Quote, Said, State, Unknown, When } from "./shown.js";
import { useLoaded, usePages } from "./use-loaded.js";

/** What is known of one guest, how it came to be known, and what was booked and promised. */
export function GuestScreen({ tenant, user }: OwnerName) {
  const guest = useLoaded(`${tenant}/${user}`, (abort) => client.guest({ tenant, user }, abort));
  return (
    <>
      <Heading title="A guest">
        <Name of={user} />
      </Heading>
      <p class="row">
        <Link to={addressOf("conversations", [], { tenant, user })}>Conversations of this guest</Link>
        <span class="note">
          Tenant <Name of={tenant} />
        </span>
      </p>
      <Shown of={guest} missing="Nothing is kept of this guest.">
        {(of) => (
          <Facts
            of={[
              ["Conversations", <Figure key="sessions" of={of.sessions} />],
              ["Memories", <Figure key="memories" of={of.memories} />],
              ["Waiting for a word", <Figure key="waiting" of={of.waiting} />],
              ["Bookings", <Figure key="bookings" of={of.bookings_count ?? of.bookings?.length ?? null} />],
            ]}
          />
        )}
      </Shown>
      <div class="columns">
        <div>
          <Section title="Memory over time">
            <Timeline key={`${tenant}/${user}`} tenant={tenant} user={user} />
          </Section>
        </div>
        <div>
          <Section title="Bookings">
            <Kept of={guest.value?.bookings ?? null} none="Nothing was booked." unknown="What was booked is not shown." />
          </Section>
          <Section title="What was checked before bookings">
            <BookingReceipts tenant={tenant} user={user} of={guest.value?.booking_receipts ?? null} />
          </Section>
          <Section title="Receipts of erasures">
            <Kept of={guest.value?.receipts ?? null} none="There are no receipts." unknown="Which receipts there are is unknown." />
          </Section>
        </div>
      </div>
    </>
  );
}

type KeptProps = Readonly<{ of: readonly unknown[] | null; none: string; unknown: string }>;

const Kept = (props: KeptProps) => (
  <List {...props} as="ul" class="cards" item="card">
    {(each) => <Anything of={each} />}
  </List>
);

const STATED: Readonly<Record<string, string>> = {
  met: "met",
  moot: "nothing in it could break it",
  broken: "broken",
  unknown: "not stated",
};

/** What was checked before each booking: which needs, whose, what the catalogue stated, and what was passed over. */
const BookingReceipts = ({ tenant, user, of }: OwnerName & { readonly of: readonly BookingReceipt[] | null }) => (
  <List of={of} unknown="What was checked before bookings is not shown." none="No booking has a receipt." as="ul" class="cards" item="card">
    {({ number, at, session_id, turn, body }) => (
      <>
        <p class="row">
          {body === null ? <span class="note">What was checked is forgotten.</span> : <Said text={body.booked} />}
          <span class="note">
            No. <Name of={number === null ? null : String(number)} />, <When at={at} />
          </span>
        </p>
        <ul class="plain">
          {body?.checked?.needs?.map(({ memory, who, stated }, place) => (
            <li key={place}>
              <Said text={memory} /> <span class="note">({who === "self" ? "the guest" : (who ?? "?")})</span>:{" "}
              {stated?.state == null ? <Unknown /> : <strong>{STATED[stated.state] ?? stated.state}</strong>}{" "}
              {stated?.because != null && <Said text={stated.because} />}
            </li>
          ))}
          {body?.checked?.unchecked === true && <li>There may be needs that could not be read.</li>}
          {body?.waived?.map(({ memory_id, how }, place) => (
            <li key={`w${place}`} class="note">
              {how === "override" ? "Booked on the guest's word against " : "Said before it was booked: "}
              {memory_id === null ? "needs that could not be read" : <Name of={memory_id} />}
            </li>
          ))}
        </ul>
        {session_id !== null && turn !== null && (
          <Link to={addressOf("turns", [tenant, user, session_id, turn])}>The turn that booked it</Link>
        )}
      </>
    )}
  </List>
);

/** How a guest's memory came about, newest first; or what held at an earlier moment, and what has changed since. */
function Timeline({ tenant, user }: OwnerName) {
  const asOf = timeOf(route.value.query.as_of ?? "");
  const changes = usePages(`${tenant}/${user}`, (cursor, abort) => client.timeline({ tenant, user }, undefined, cursor, abort));
  const moments = [...new Set(changes.rows.flatMap(({ at }) => timeOf(at ?? "")?.getTime() ?? []))].sort((a, b) => a - b);
  return (
    <>
      {moments.length > 0 && <Slider moments={moments} asOf={asOf} />}
      {asOf === null ? (
        <Paged of={changes} empty="Nothing was ever remembered of this guest." moreLabel="Show what was before">
          {(rows) => <Changes of={rows} owner={{ tenant, user }} />}
        </Paged>
      ) : (
        <AsOf owner={{ tenant, user }} at={asOf} />
      )}
    </>
  );
}

interface SliderProps {
  /** When something changed, in milliseconds, oldest first. */
  readonly moments: readonly number[];
  readonly asOf: Date | null;
}

/** Goes from change to change; at its end it is now. */
function Slider({ moments, asOf }: SliderProps) {
  const [dragged, setDragged] = useState<number | null>(null);
  const now = moments.length;
  const before = asOf === null ? now : moments.findLastIndex((moment) => moment <= asOf.getTime());
  const shown = dragged ?? Math.max(0, before);
  const at = moments[shown];
  const choose = (index: number) => {
    setDragged(null);
    const moment = moments[index];
    setQuery(moment === undefined ? {} : { as_of: new Date(moment).toISOString() }, true);
  };
  // Between two changes it is as after the earlier one; the address may name any moment.
  const said = dragged === null && asOf !== null ? asOf : at === undefined ? null : new Date(at);
  return (
    <div class="as-of row">
      <label for="as-of">As of</label>
      <input
        id="as-of"
        type="range"
        min={0}
        max={now}
        step={1}
        value={shown}
        aria-valuetext={said === null ? "now" : momentOf(said)}
        onInput={(event) => setDragged(event.currentTarget.valueAsNumber)}
        onChange={(event) => choose(event.currentTarget.valueAsNumber)}
      />
      <output for="as-of">{said === null ? "now" : momentOf(said)}</output>
      {asOf !== null && <Button label="Back to now" onClick={() => choose(now)} />}
    </div>
  );
}

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
function AsOf({ owner, at }: { readonly owner: OwnerName; readonly at: Date }) {
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

interface ChangesProps {
  readonly of: readonly Change[];
  readonly owner: OwnerName;
  /** Where what they replace is looked for. */
  readonly among?: readonly Change[];
}

const Changes = ({ of, owner, among = of }: ChangesProps) => (
  <List of={of} none="None." class="timeline">
    {(each) => <ChangeCard of={each} owner={owner} among={among} />}
  </List>
);

type ChangeCardProps = Omit<Required<ChangesProps>, "of"> & { readonly of: Change };

function ChangeCard({ of, owner: { tenant, user }, among }: ChangeCardProps) {
  const turn = addressOf("turns", [tenant, user, of.session_id, of.turn]);
  return (
    <article>
      <p class="change">
        {(of.replaces ?? []).map((id) => (
          <span key={id}>
            <del>
              <span class="sr">replaces: </span>
              <Replaced id={id} among={among} />
            </del>{" "}
            →{" "}
          </span>
        ))}
        <strong>
          <Said text={of.text} chars={of.text_chars} />
        </strong>{" "}
        <State of={of.event} />
      </p>
      <Quote text={of.quote} chars={of.quote_chars} />
      <p class="note">
        <When at={of.at} />
        {of.turn !== null && " · "}
        {of.turn !== null && (
          <Link to={turn}>
            turn <Name of={of.turn} />
          </Link>
        )}
        {of.reason !== null && " · "}
        {of.reason !== null && <Code of={of.reason} />}
      </p>
    </article>
  );
}

/** A change names what it replaces by its id: its text is that of a change of it. */
function Replaced({ id, among }: { readonly id: string; readonly among: readonly Change[] }) {
  const known = among.find(({ memory_id }) => memory_id === id);
  return known === undefined ? <Name of={id} /> : <Said text={known.text} chars={known.text_chars} />;
}
