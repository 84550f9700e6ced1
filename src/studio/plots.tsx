import { Choice } from "./choice.js";
import { client, type PlotStep } from "./client.js";
import { countOf, durationOf, moneyOf, wordsOf } from "./format.js";
import { Empty, Heading, Shown } from "./parts.js";
import { type Line, Plot } from "./plot.js";
import { route, setQuery } from "./route.js";
import { TenantFilter } from "./tenant-filter.js";
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
        <button type="button" class="quiet" onClick={plots.reload}>
          Once more
        </button>
      </p>
      <Shown of={plots}>
        {({ steps }) =>
          steps.length === 0 ? (
            <Empty>Nothing was measured in {label}.</Empty>
          ) : (
            <div class="plots">
              {FIGURES.map(({ title, lines, form }) => (
                <Plot key={title} title={title} steps={steps} lines={lines(steps)} form={form} />
              ))}
            </div>
          )
        }
      </Shown>
    </>
  );
}

interface FigureOf {
  readonly title: string;
  readonly lines: (steps: readonly PlotStep[]) => readonly Line[];
  readonly form: (value: number) => string;
}

/** A line of a number that each step has. */
function line(label: string, numberOf: (step: PlotStep) => number | null) {
  return (steps: readonly PlotStep[]): Line => ({ label, values: steps.map(numberOf) });
}

const together =
  (...lines: readonly ReturnType<typeof line>[]) =>
  (steps: readonly PlotStep[]) =>
    lines.map((each) => each(steps));

/** A line for each name that any step counts under; a step that counts nothing under it has none of it, one that isn't known is a gap. */
function byName(countsOf: (step: PlotStep) => Readonly<Record<string, number | null>> | null) {
  return (steps: readonly PlotStep[]): readonly Line[] => {
    const names = new Set(steps.flatMap((step) => Object.keys(countsOf(step) ?? {})));
    return [...names].map((name) => ({
      label: wordsOf(name),
      values: steps.map((step) => {
        const counts = countsOf(step);
        if (counts === null) return null;
        return Object.hasOwn(counts, name) ? (counts[name] ?? null) : 0;
      }),
    }));
  };
}

const FIGURES: readonly FigureOf[] = [
  {
    title: "Turns",
    form: countOf,
    lines: together(
      line("turns", ({ turns }) => turns),
      line("failed", ({ failed }) => failed),
    ),
  },
  {
    title: "Time to the first token",
    form: durationOf,
    lines: together(
      line("half of them within", ({ p50_first_token_ms: p50 }) => p50),
      line("95 of 100 within", ({ p95_first_token_ms: p95 }) => p95),
    ),
  },
  { title: "How recall did", form: countOf, lines: byName(({ recall }) => recall) },
  {
    title: "Memories given and held back",
    form: countOf,
    lines: together(
      line("given", ({ given }) => given),
      line("held back", ({ held_back }) => held_back),
    ),
  },
  { title: "What became of proposals", form: countOf, lines: byName(({ proposals }) => proposals) },
  { title: "Cost", form: moneyOf, lines: together(line("cost", ({ cost }) => cost)) },
  { title: "Cost by model", form: moneyOf, lines: byName(({ cost_by_model }) => cost_by_model) },
  { title: "Cost by tenant", form: moneyOf, lines: byName(({ cost_by_tenant }) => cost_by_tenant) },
  { title: "Tokens", form: countOf, lines: together(line("tokens", ({ tokens }) => tokens)) },
  { title: "Erasures", form: countOf, lines: together(line("erasures", ({ erasures }) => erasures)) },
];
