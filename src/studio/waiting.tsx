import { TenantFilter } from "./choice.js";
import { client } from "./client.js";
import { GuestLink, Heading, Paged, Table } from "./parts.js";
import { route } from "./route.js";
import { Anything, Code, Said, When } from "./shown.js";
import { LIVE_MS, usePages } from "./use-loaded.js";

/** Memories of all guests that wait for their word. */
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
