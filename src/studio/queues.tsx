import { useState } from "preact/hooks";
import { client, type WriteBack } from "./client.js";
import { wordsOf } from "./format.js";
import { Empty, Heading, Link, Paged, Section, Shown, Table } from "./parts.js";
import { addressOf, route, setQuery } from "./route.js";
import { refusalOf } from "./session.js";
import { Figure, Name, Unknown, When } from "./shown.js";
import { LIVE_MS, useLoaded, usePages } from "./use-loaded.js";

const STATES = ["failed", "pending"] as const;

/** What is done behind the replies: how much is due, what waits, and what was given up. */
export function QueuesScreen() {
  const queues = useLoaded("", (abort) => client.queues(abort), LIVE_MS);
  const state = STATES.find((each) => each === route.value.query.state) ?? "failed";
  return (
    <>
      <Heading title="Queues">Queues</Heading>
      <Shown of={queues}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>There are no queues.</Empty>
          ) : (
            <Table label="Queues" columns={["Queue", "Due", "Waiting", "Given up", "Oldest"]}>
              {data.map((queue, index) => (
                <tr key={queue.name ?? index}>
                  <th scope="row">{queue.name === null ? <Unknown /> : <bdi>{wordsOf(queue.name)}</bdi>}</th>
                  <td class="number">
                    <Figure of={queue.due} />
                  </td>
                  <td class="number">
                    <Figure of={queue.waiting} />
                  </td>
                  <td class="number">
                    <Figure of={queue.failed} />
                  </td>
                  <td>
                    <Oldest of={queue} />
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Shown>
      <Section title="Turns to be remembered">
        <fieldset class="row choice">
          <legend class="sr">Which of them</legend>
          {STATES.map((each) => (
            <label key={each} class="check">
              <input type="radio" name="state" checked={each === state} onChange={() => setQuery({ state: each })} />
              {each === "failed" ? "Given up" : "Pending"}
            </label>
          ))}
        </fieldset>
        <WriteBacks key={state} state={state} />
      </Section>
    </>
  );
}

/** Where nothing waits there is no oldest; else it is not known. */
function Oldest({
  of: { due, waiting, oldest_at },
}: {
  readonly of: { due: number | null; waiting: number | null; oldest_at: string | null };
}) {
  return oldest_at === null && due === 0 && waiting === 0 ? <>none</> : <When at={oldest_at} ago />;
}

function WriteBacks({ state }: { readonly state: (typeof STATES)[number] }) {
  const turns = usePages(state, (cursor, abort) => client.writeBacks(state, cursor, abort), LIVE_MS);
  const [told, setTold] = useState("");
  const retry = async ({ tenant, user, session_id }: WriteBack) => {
    if (tenant === null || user === null || session_id === null) return;
    setTold("It is being asked for …");
    try {
      await client.retry({ tenant, user }, session_id);
      setTold("It is tried again.");
      turns.restart();
    } catch (error) {
      const { message, hint } = refusalOf(error);
      setTold(`${message} ${hint}`);
    }
  };
  return (
    <>
      <p role="status" class="note" dir="auto">
        {told}
      </p>
      <Paged of={turns} empty={state === "failed" ? "No turn was given up." : "No turn waits."} moreLabel="Show more">
        {(rows) => (
          <Table label="Turns to be remembered" columns={["Turn", "Guest", "Attempts", "Error", "Due", "Retry"]}>
            {rows.map((row, index) => (
              <tr key={`${row.session_id} ${row.turn} ${index}`}>
                <th scope="row">
                  <Link to={addressOf("turns", [row.tenant, row.user, row.session_id, row.turn])}>
                    Turn <Name of={row.turn} />
                  </Link>
                </th>
                <td>
                  <Link to={addressOf("guests", [row.tenant, row.user])}>
                    <Name of={row.user} />
                  </Link>
                </td>
                <td class="number">
                  <Figure of={row.attempts} />
                </td>
                <td>
                  <Name of={row.error_code} />
                </td>
                <td>
                  <When at={row.due_at} ago />
                </td>
                <td>
                  {row.tenant !== null && row.user !== null && row.session_id !== null && (
                    <button type="button" class="secondary" onClick={() => void retry(row)}>
                      Try again
                      <span class="sr">
                        , turn <Name of={row.turn} />
                      </span>
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Paged>
    </>
  );
}
