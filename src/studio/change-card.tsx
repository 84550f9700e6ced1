import type { Change, OwnerName } from "./client.js";
import { wordsOf } from "./format.js";
import { Link } from "./parts.js";
import { addressOf } from "./route.js";
import { Name, Said, State, When } from "./shown.js";

/** One change, or one memory as it was. */
export function ChangeCard({ of, owner: { tenant, user } }: { readonly of: Change; readonly owner: OwnerName }) {
  const turn = addressOf("turns", [tenant, user, of.session_id, of.turn]);
  return (
    <article>
      <p class="change">
        {of.replaces !== null && (
          <>
            <del>
              <span class="sr">replaces: </span>
              <Said text={of.replaces} />
            </del>{" "}
            →{" "}
          </>
        )}
        <strong>
          <Said text={of.text} chars={of.text_chars} />
        </strong>{" "}
        {of.event === null ? <State of={null} /> : <State of={of.event}>{wordsOf(of.event)}</State>}
      </p>
      {(of.quote !== null || of.quote_chars !== null) && (
        <blockquote>
          <Said text={of.quote} chars={of.quote_chars} />
        </blockquote>
      )}
      <p class="note">
        <When at={of.at} />
        {of.turn !== null && (
          <>
            {" · "}
            <Link to={turn}>
              turn <Name of={of.turn} />
            </Link>
          </>
        )}
        {of.reason !== null && (
          <>
            {" · "}
            <bdi>{wordsOf(of.reason)}</bdi>
          </>
        )}
      </p>
    </article>
  );
}
