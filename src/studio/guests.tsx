import { Submit, sending } from "../web/controls.js";
import { client } from "./client.js";
import { Field, GuestLink, Heading, Paged, Table, TenantFilter } from "./parts.js";
import { addressOf, route } from "./route.js";
import { Figure, Name, When } from "./shown.js";
import { usePages } from "./use-loaded.js";

/** Users who have sessions, and the way to any that one knows by name. */
export function GuestsScreen() {
  const tenant = route.value.query.tenant;
  const users = usePages(tenant ?? "", (cursor, abort) => client.users(tenant, cursor, abort));
  const open = (form: HTMLFormElement) => {
    const given = new FormData(form);
    location.hash = addressOf("guests", [String(given.get("tenant")).trim() || "default", String(given.get("user")).trim()]) ?? "";
  };
  return (
    <>
      <Heading title="Guests">Guests</Heading>
      <search>
        <form class="row fields" onSubmit={sending(open)}>
          <Field label="Guest" name="user" required autoComplete="off" />
          <Field label="Tenant" name="tenant" defaultValue={tenant ?? "default"} />
          <Submit label="Open" class="secondary" />
        </form>
      </search>
      <TenantFilter />
      <Paged of={users} empty="No guest has a conversation." moreLabel="Show more guests">
        {(rows) => (
          <Table
            label="Guests"
            of={rows}
            columns={[
              ["Guest", (row) => <GuestLink of={row} />],
              ["Tenant", (row) => <Name of={row.tenant} />],
              ["Conversations", ({ sessions }) => <Figure of={sessions} />],
              ["Last here", ({ last_active_at: at }) => <When at={at} />],
            ]}
          />
        )}
      </Paged>
    </>
  );
}
