import { client } from "./client.js";
import { wordsOf } from "./format.js";
import { Heading, Link, Paged, Table } from "./parts.js";
import { addressOf, route } from "./route.js";
import { Anything, Name, Said, Unknown, When } from "./shown.js";
import { TenantFilter } from "./tenant-filter.js";
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
          <Table label="What waits for a guest's word" columns={["Memory", "Guest", "Why it waits", "Since", "Asked"]}>
            {rows.map((row, index) => (
              <tr key={row.memory_id ?? index}>
                <th scope="row">
                  <Said text={row.text} chars={row.text_chars} />
                </th>
                <td>
                  <Link to={addressOf("guests", [row.tenant, row.user])}>
                    <Name of={row.user} />
                  </Link>
                </td>
                <td>{row.reason === null ? <Unknown /> : <bdi>{wordsOf(row.reason)}</bdi>}</td>
                <td>
                  <When at={row.since} ago />
                </td>
                <td>
                  <Anything of={row.asked} />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Paged>
    </>
  );
}
