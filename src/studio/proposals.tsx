import type { OwnerName, Proposal } from "./client.js";
import { Link, List } from "./parts.js";
import { addressOf } from "./route.js";
import { Code, Quote, Said, State } from "./shown.js";

interface ProposalsProps {
  readonly of: readonly Proposal[] | null;
  readonly place: OwnerName;
}

/** What a model, or the stand-in, wanted to remember of the message, and what became of each. */
export const Proposals = ({ of, place: { tenant, user } }: ProposalsProps) => (
  <List of={of} unknown="What was proposed is unknown." none="Nothing was proposed." class="proposals" item="card">
    {({ op, text, text_chars, outcome, quote, quote_chars, reason, memory_id }) => (
      <>
        <p>
          <span class="note">
            <Code of={op} />
          </span>{" "}
          <Said text={text} chars={text_chars} /> <State of={outcome} />
        </p>
        <Quote text={quote} chars={quote_chars} />
        {reason !== null && (
          <p class="note">
            Why: <Code of={reason} />
          </p>
        )}
        {memory_id !== null && (
          <p class="note">
            <Link to={addressOf("guests", [tenant, user])}>In the guest's timeline</Link>
          </p>
        )}
      </>
    )}
  </List>
);
