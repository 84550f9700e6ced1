import { Button } from "../web/controls.js";
import { Choice, TenantFilter } from "./choice.js";
import { client, type PlotStep } from "./client.js";
import { countOf, durationOf, moneyOf, wordsOf } from "./format.js";
import { Filled, Heading, Shown } from "./parts.js";
import { type Line, Plot } from "./plot.js";
import { route, setQuery } from "./route.js";
import { useLoaded } from "./use-loaded.js";

const HOUR_MS = 3_600_000;
const SPANS = {
  day: { label: "the last 24 hours", ms: 24 * HOUR_MS, step: "hour" },
  week: { label: "the last 7 days", ms: 7 * 24 * HOUR_MS, step: "hour" },
  month: { label: "the last 30 days", ms: 30 * 24 * HOUR_MS, step: "day" },
} as const;
type Span = keyof typeof SPANS;

/** How turns, recall, memories and money went over time. */
export function PlotsScreen() {
  const { query } = route.value;
  const span: Span = query.span !== undefined && Object.hasOwn(SPANS, query.span) ? (query.span as Span) : "day";
  const { tenant } = query;
  const { ms, step, label } = SPANS[span];
  const plots = useLoaded(`${span}/${tenant ?? ""}`, (abort) => {
    const now = Date.now();
    return client.plots({ tenant, step, from: new Date(now - ms).toISOString(), to: new Date(now).toISOString() }, abort);
  });
  return (
    <>
      <Heading title="Plots">Plots</Heading>
      <p class="row">
        <Choice
          label="Of"
          name="span"
          value={span}
          options={Object.entries(SPANS).map(([name, each]) => [name, each.label] as const)}
          onChange={(event) => setQuery({ ...query, span: (event.currentTarget as HTMLSelectElement).value })}
          inline
        />
        <TenantFilter />
        <Button label="Once more" onClick={plots.reload} />
      </p>
      <Shown of={plots}>
        {({ steps }) => (
          <Filled of={steps} none={`Nothing was measured in ${label}.`}>
            {() => (
              <div class="plots">
                {FIGURES.map(({ title, lines, form }) => (
                  <Plot key={title} title={title} steps={steps} lines={lines(steps)} form={form} />
                ))}
              </div>
            )}
          </Filled>
        )}
      </Shown>
    </>
  );
}

type Numbers = { [K in keyof PlotStep]: PlotStep[K] extends number | null ? K : never }[keyof PlotStep];

/** A line for each number that every step has. */
const together =
  (lines: Readonly<Partial<Record<Numbers, string>>>) =>
  (steps: readonly PlotStep[]): readonly Line[] =>
    Object.entries(lines).map(([name, label]) => ({ label, values: steps.map((step) => step[name as Numbers]) }));

/** A line for each name that any step counts under; a step that counts nothing under it has none of it, one that isn't known is a gap. */
function byName(counted: "recall" | "proposals" | "cost_by_model" | "cost_by_tenant") {
  return (steps: readonly PlotStep[]): readonly Line[] => {
    const all = steps.map((step) => step[counted]);
    const names = new Set(all.flatMap((counts) => Object.keys(counts ?? {})));
    const of = (name: string) => all.map((counts) => (counts && !Object.hasOwn(counts, name) ? 0 : (counts?.[name] ?? null)));
    return [...names].map((name) => ({ label: wordsOf(name), values: of(name) }));
  };
}

const FIGURES = [
  { title: "Turns", form: countOf, lines: together({ turns: "turns", failed: "failed" }) },
  {
    title: "Time to the first token",
    form: durationOf,
    lines: together({ p50_first_token_ms: "half of them within", p95_first_token_ms: "95 of 100 within" }),
  },
  { title: "How recall did", form: countOf, lines: byName("recall") },
  { title: "Memories given and held back", form: countOf, lines: together({ given: "given", held_back: "held back" }) },
  { title: "What became of proposals", form: countOf, lines: byName("proposals") },
  { title: "Cost", form: moneyOf, lines: together({ cost: "cost" }) },
  { title: "Cost by model", form: moneyOf, lines: byName("cost_by_model") },
  { title: "Cost by tenant", form: moneyOf, lines: byName("cost_by_tenant") },
  { title: "Tokens", form: countOf, lines: together({ tokens: "tokens" }) },
  { title: "Erasures", form: countOf, lines: together({ erasures: "erasures" }) },
];
