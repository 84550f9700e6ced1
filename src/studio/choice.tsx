import { route, setQuery } from "./route.js";
import { about } from "./session.js";

interface ChoiceProps {
  readonly label: string;
  readonly name: string;
  readonly value: string | undefined;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onChange: (event: Event) => void;
  /** In a line with other things. */
  readonly inline?: boolean;
}

/** One of a few, with its label. */
export function Choice({ label, name, value = "", options, onChange, inline = false }: ChoiceProps) {
  return (
    <label class={inline ? "row" : ""}>
      {label}{" "}
      <select name={name} onChange={onChange}>
        {options.map(([option, shown]) => (
          <option key={option} value={option} selected={option === value}>
            {shown}
          </option>
        ))}
      </select>
    </label>
  );
}

/** An option that is called what it is. */
export const itself = (name: string) => [name, name] as const;

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
