import { Facts } from "../web/controls.js";
import { type BookingReceipt, client, type OwnerName } from "./client.js";
import { Heading, Link, List, Section, Shown } from "./parts.js";
import { addressOf } from "./route.js";
import { Anything, Figure, Name, Said, Unknown, When } from "./shown.js";
import { Timeline } from "./timeline.js";
import { useLoaded } from "./use-loaded.js";

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
