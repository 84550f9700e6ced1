import type { Proposal } from "./client.js";
import { wordsOf } from "./format.js";
import { Empty, Link } from "./parts.js";
import { addressOf } from "./route.js";
import { Said, State } from "./shown.js";

interface ProposalsProps {
  readonly of: readonly Proposal[] | null;
  readonly place: { readonly tenant: string; readonly user: string };
}

/** What a model, or the stand-in, wanted to remember of the message, and what became of each. */
export function Proposals({ of, place: { tenant, user } }: ProposalsProps) {
  if (of === null) return <Empty>What was proposed is unknown.</Empty>;
  if (of.length === 0) return <Empty>Nothing was proposed.</Empty>;
  return (
    <ol class="proposals">
      {of.map((proposal, index) => (
        <li key={index} class="card">
          <p>
            <bdi class="note">{proposal.op === null ? "unknown" : wordsOf(proposal.op)}</bdi>{" "}
            <Said text={proposal.text} chars={proposal.text_chars} /> <State of={proposal.outcome} />
          </p>
          {(proposal.quote !== null || proposal.quote_chars !== null) && (
            <blockquote>
              <Said text={proposal.quote} chars={proposal.quote_chars} />
            </blockquote>
          )}
          {proposal.reason !== null && (
            <p class="note">
              Why: <bdi>{wordsOf(proposal.reason)}</bdi>
            </p>
          )}
          {proposal.memory_id !== null && (
            <p class="note">
              <Link to={addressOf("guests", [tenant, user])}>In the guest's timeline</Link>
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}
