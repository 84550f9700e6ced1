import { Choice, itself } from "./choice.js";
import { route, setQuery } from "./route.js";
import { about } from "./session.js";

/** Narrows a screen to one tenant, where the server tells which there are. */
export function TenantFilter() {
  const tenants = about.value?.tenants ?? [];
  if (tenants.length < 2) return null;
  const { query } = route.value;
  return (
    <Choice
      label="Tenant"
      name="tenant"
      value={query.tenant}
      options={[["", "all"], ...tenants.map(itself)]}
      onChange={(event) => setQuery({ ...query, tenant: (event.currentTarget as HTMLSelectElement).value })}
      inline
    />
  );
}
