import type { Change, OwnerName } from "./client.js";
import { Link, List } from "./parts.js";
import { addressOf } from "./route.js";
import { Code, Name, Quote, Said, State, When } from "./shown.js";

interface ChangesProps {
  readonly of: readonly Change[];
  readonly owner: OwnerName;
  /** Where what they replace is looked for. */
  readonly among?: readonly Change[];
}

/** Changes, or memories as they were. */
export const Changes = ({ of, owner, among = of }: ChangesProps) => (
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
