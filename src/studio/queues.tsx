import { useState } from "preact/hooks";
import { Button } from "../web/controls.js";
import { serverWords } from "../web/problems.js";
import { client, type WriteBack } from "./client.js";
import { Filled, GuestLink, Heading, Link, Paged, Section, Shown, Table, TenantFilter } from "./parts.js";
import { addressOf, route, setQuery } from "./route.js";
import { refusalOf } from "./session.js";
import { Anything, Code, Figure, Name, Said, When } from "./shown.js";
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
        {({ data }) => (
          <Filled of={data} none="There are no queues.">
            {(all) => (
              <Table
                label="Queues"
                of={all}
                columns={[
                  ["Queue", ({ name }) => <Code of={name} />],
                  ["Due", ({ due }) => <Figure of={due} />],
                  ["Waiting", ({ waiting }) => <Figure of={waiting} />],
                  ["Given up", ({ failed }) => <Figure of={failed} />],
                  // Where nothing waits there is no oldest; else it is not known.
                  [
                    "Oldest",
                    ({ due, waiting, oldest_at: at }) => (at === null && due === 0 && waiting === 0 ? "none" : <When at={at} ago />),
                  ],
                ]}
              />
            )}
          </Filled>
        )}
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
      setTold(serverWords(refusalOf(error)));
    }
  };
  return (
    <>
      <p role="status" class="note" dir="auto">
        {told}
      </p>
      <Paged of={turns} empty={state === "failed" ? "No turn was given up." : "No turn waits."} moreLabel="Show more">
        {(rows) => (
          <Table
            label="Turns to be remembered"
            of={rows}
            columns={[
              ["Turn", (row) => <TurnLink of={row} />],
              ["Guest", (row) => <GuestLink of={row} />],
              ["Attempts", ({ attempts }) => <Figure of={attempts} />],
              ["Error", ({ error_code: code }) => <Name of={code} />],
              ["Due", ({ due_at: at }) => <When at={at} ago />],
              ["Retry", (row) => isPlaced(row) && <Button label={<Again of={row} />} class="secondary" onClick={() => void retry(row)} />],
            ]}
          />
        )}
      </Paged>
    </>
  );
}

const TurnLink = ({ of: { tenant, user, session_id, turn } }: { readonly of: WriteBack }) => (
  <Link to={addressOf("turns", [tenant, user, session_id, turn])}>
    Turn <Name of={turn} />
  </Link>
);

const isPlaced = (row: WriteBack) => row.tenant !== null && row.user !== null && row.session_id !== null;

const Again = ({ of }: { readonly of: WriteBack }) => (
  <>
    Try again
    <span class="sr">
      , turn <Name of={of.turn} />
    </span>
  </>
);

export function WaitingScreen() {
  const tenant = route.value.query.tenant;
  const waiting = usePages(tenant ?? "", (cursor, abort) => client.waiting(tenant, cursor, abort), LIVE_MS);
  return (
    <>
      <Heading title="Waiting for a word">Waiting for a word</Heading>
      <p class="note">What guests may have said, and are asked about before it holds.</p>
      <TenantFilter />
      <Paged of={waiting} empty="Nothing waits." moreLabel="Show more">
        {(rows) => (
          <Table
            label="What waits for a guest's word"
            of={rows}
            columns={[
              ["Memory", ({ text, text_chars }) => <Said text={text} chars={text_chars} />],
              ["Guest", (row) => <GuestLink of={row} />],
              ["Why it waits", ({ reason }) => <Code of={reason} />],
              ["Since", ({ since }) => <When at={since} ago />],
              ["Asked", ({ asked }) => <Anything of={asked} />],
            ]}
          />
        )}
      </Paged>
    </>
  );
}
