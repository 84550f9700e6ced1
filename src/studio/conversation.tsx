import { useState } from "preact/hooks";
import { Facts } from "../web/controls.js";
import { type ConversationWithTurns, client, type OwnerName, type TurnLine } from "./client.js";
import { Empty, GuestLink, Heading, Link, List, Paged } from "./parts.js";
import { addressOf } from "./route.js";
import { Figure, Name, Said, State, Talk, When } from "./shown.js";
import { usePages } from "./use-loaded.js";

type Place = OwnerName & { readonly session: string };

/** A conversation, turn by turn. */
export function ConversationScreen({ tenant, user, session }: Place) {
  const [head, setHead] = useState<ConversationWithTurns | null>(null);
  const turns = usePages(`${tenant}/${user}/${session}`, async (cursor, abort) => {
    const answer = await client.conversation({ tenant, user }, session, cursor, abort);
    if (cursor === null) setHead(answer);
    return { data: answer.turns ?? [], next_cursor: answer.next_cursor };
  });
  const untitled = head === null || (head.title === null && head.title_chars === null);
  return (
    <>
      <Heading title="A conversation">{untitled ? "A conversation" : <Said text={head.title} chars={head.title_chars} />}</Heading>
      {head !== null && (
        <Facts
          of={[
            ["Guest", <GuestLink key="guest" of={{ tenant, user }} />],
            ["Tenant", <Name key="tenant" of={tenant} />],
            ["Last active", <When key="at" at={head.last_active_at} />],
            ["Turns", <Figure key="turns" of={head.turn_count} />],
            ["Status", <State key="status" of={head.status} />],
            ["Cost", <Figure key="cost" of={head.cost} as="money" />],
            ["Tokens", <Figure key="tokens" of={head.tokens} />],
            ["Failed turns", <Figure key="failed" of={head.failed_turns} />],
            ["To be remembered", <Figure key="pending" of={head.pending_turns} unit="turns" />],
            ["Session", <Name key="session" of={session} />],
          ]}
        />
      )}
      {head?.turns === null ? (
        <Empty>Which turns it has is unknown.</Empty>
      ) : (
        <Paged
          of={turns}
          empty="It has no turns."
          missing="There is no such conversation, or it was deleted."
          moreLabel="Show earlier turns"
        >
          {(rows) => (
            <List of={rows} class="turns">
              {(row) => <TurnCard of={row} place={{ tenant, user, session }} />}
            </List>
          )}
        </Paged>
      )}
    </>
  );
}

function TurnCard({ of, place: { tenant, user, session } }: { readonly of: TurnLine; readonly place: Place }) {
  return (
    <article class="card turn-card">
      <h2>
        <Link to={addressOf("turns", [tenant, user, session, of.turn])}>
          Turn <Name of={of.turn} />
        </Link>
      </h2>
      <Talk of={of} />
      <p class="note row">
        <When at={of.at} /> · <Figure of={of.duration_ms} as="duration" /> · <Figure of={of.cost} as="money" />
        <span class="sr">Memory:</span> <State of={of.memory_status} />
        {of.outcome !== null && <State of={of.outcome} />}
        {of.error_code !== null && <Name of={of.error_code} />}
      </p>
    </article>
  );
}
