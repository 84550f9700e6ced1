import { client } from "./client.js";
import { Heading, Link, Paged, Table } from "./parts.js";
import { addressOf, route } from "./route.js";
import { Figure, Name, When } from "./shown.js";
import { TenantFilter } from "./tenant-filter.js";
import { usePages } from "./use-loaded.js";

/** Users who have sessions, and the way to any that one knows by name. */
export function GuestsScreen() {
  const tenant = route.value.query.tenant;
  const users = usePages(tenant ?? "", (cursor, abort) => client.users(tenant, cursor, abort));
  const open = (event: SubmitEvent) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    location.hash = addressOf("guests", [String(given.get("tenant")).trim() || "default", String(given.get("user")).trim()]) ?? "";
  };
  return (
    <>
      <Heading title="Guests">Guests</Heading>
      <search>
        <form class="row fields" onSubmit={open}>
          <label>
            Guest
            <input type="text" name="user" required maxLength={256} dir="auto" autoComplete="off" />
          </label>
          <label>
            Tenant
            <input type="text" name="tenant" defaultValue={tenant ?? "default"} maxLength={256} dir="auto" />
          </label>
          <button type="submit" class="secondary">
            Open
          </button>
        </form>
      </search>
      <TenantFilter />
      <Paged of={users} empty="No guest has a conversation." moreLabel="Show more guests">
        {(rows) => (
          <Table label="Guests" columns={["Guest", "Tenant", "Conversations", "Last here"]}>
            {rows.map((row) => (
              <tr key={`${row.tenant} ${row.user}`}>
                <th scope="row">
                  <Link to={addressOf("guests", [row.tenant, row.user])}>
                    <Name of={row.user} />
                  </Link>
                </th>
                <td>
                  <Name of={row.tenant} />
                </td>
                <td class="number">
                  <Figure of={row.sessions} />
                </td>
                <td>
                  <When at={row.last_active_at} />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Paged>
    </>
  );
}
