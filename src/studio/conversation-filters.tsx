import { Button, Submit } from "../web/controls.js";
import { Choice, itself } from "./choice.js";
import { dayStart, moneyOf, wordsOf } from "./format.js";
import { Field } from "./parts.js";
import { addressOf, setQuery } from "./route.js";
import { about } from "./session.js";

/** As the address has them. */
export type Filters = Readonly<Record<string, string>>;

const MEMORY_STATUSES = ["ok", "empty", "disabled", "timeout", "degraded"];
const FAILURES = [
  ["", "any"],
  ["true", "with a failure"],
  ["false", "without"],
] as const;
const NAMES = ["tenant", "user", "from", "to", "memory_status", "failed", "min_cost"] as const;

/** What the server is asked for: days are the reader's own, the last one included. */
export function conversationQuery({ tenant, user, from, to, memory_status, failed, min_cost }: Filters) {
  return { tenant, user, from: dayStart(from), to: dayStart(to, 1), memory_status, failed, min_cost: decimalOf(min_cost) };
}

/** "1e-3" is a number for a browser, and none for the server. */
function decimalOf(amount: string | undefined): string | undefined {
  const given = Number(amount || Number.NaN);
  return Number.isFinite(given) && given >= 0 ? given.toFixed(12).replace(/\.?0+$/, "") : undefined;
}

export function filtersInWords({ tenant, user, from, to, memory_status, failed, min_cost }: Filters): string {
  const parts = [
    // A guest's name is one of a tenant.
    (tenant || user) && `of ${tenant || "default"}`,
    user && `by ${user}`,
    from && `since ${from}`,
    to && `until ${to}`,
    memory_status && `memory: ${wordsOf(memory_status)}`,
    failed === "true" && "with a failure",
    failed === "false" && "without a failure",
    min_cost && `from ${moneyOf(Number(min_cost))}`,
  ].filter((part) => typeof part === "string" && part !== "");
  return parts.length === 0 ? "All, newest first" : parts.join(" · ");
}

export function ConversationFilters({ of, open }: { readonly of: Filters; readonly open: boolean }) {
  const apply = (event: Event) => {
    event.preventDefault();
    const form = (event.currentTarget as HTMLElement).closest("form");
    if (form === null) return;
    const given = new FormData(form);
    const query = Object.fromEntries(NAMES.map((name) => [name, String(given.get(name) ?? "").trim()]));
    location.hash = addressOf("conversations", [], query) ?? "";
  };
  const tenants = about.value?.tenants ?? null;
  const set = NAMES.filter((name) => of[name]).length;
  return (
    <details class="filters" open={open || undefined}>
      <summary>Filters{set > 0 && ` (${set} set)`}</summary>
      <search>
        <form onSubmit={apply} key={JSON.stringify(of)}>
          {tenants === null ? (
            <Field label="Tenant" name="tenant" defaultValue={of.tenant ?? ""} />
          ) : (
            <Choice label="Tenant" name="tenant" value={of.tenant} options={[["", "all"], ...tenants.map(itself)]} onChange={apply} />
          )}
          <Field label="Guest" name="user" defaultValue={of.user ?? ""} autoComplete="off" />
          <Field label="From" type="date" name="from" defaultValue={of.from ?? ""} onChange={apply} />
          <Field label="To" type="date" name="to" defaultValue={of.to ?? ""} onChange={apply} />
          <Choice
            label="Memory"
            name="memory_status"
            value={of.memory_status}
            options={[["", "any"], ...MEMORY_STATUSES.map(itself)]}
            onChange={apply}
          />
          <Choice label="Failures" name="failed" value={of.failed} options={FAILURES} onChange={apply} />
          <Field
            label="Costs at least"
            type="number"
            name="min_cost"
            defaultValue={of.min_cost ?? ""}
            min="0"
            step="any"
            inputMode="decimal"
          />
          <p class="row">
            <Submit label="Apply" class="secondary" />
            {set > 0 && <Button label="Take all away" onClick={() => setQuery({})} />}
          </p>
        </form>
      </search>
    </details>
  );
}
