import { Facts } from "../web/controls.js";
import { BookingReceipts } from "./booking-receipts.js";
import { client, type OwnerName } from "./client.js";
import { Heading, Link, List, Section, Shown } from "./parts.js";
import { addressOf } from "./route.js";
import { Anything, Figure, Name } from "./shown.js";
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
