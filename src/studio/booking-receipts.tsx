import type { BookingReceipt, OwnerName } from "./client.js";
import { Link, List } from "./parts.js";
import { addressOf } from "./route.js";
import { Name, Said, Unknown, When } from "./shown.js";

const STATED: Readonly<Record<string, string>> = {
  met: "met",
  moot: "nothing in it could break it",
  broken: "broken",
  unknown: "not stated",
};

/** What was checked before each booking: which needs, whose, what the catalogue stated, and what was passed over. */
export const BookingReceipts = ({ tenant, user, of }: OwnerName & { readonly of: readonly BookingReceipt[] | null }) => (
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
