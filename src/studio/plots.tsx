import { useEffect, useRef } from "preact/hooks";
import UPlot from "uplot";
import { Button } from "../web/controls.js";
import { client, type PlotStep } from "./client.js";
import { countOf, dayOf, durationOf, hourOf, momentOf, moneyOf, timeOf, wordsOf } from "./format.js";
import { Choice, Empty, Filled, Heading, Shown, Table, TenantFilter } from "./parts.js";
import { route, setQuery } from "./route.js";
import { Figure, When } from "./shown.js";
import { theme } from "./theme.js";
import { useLoaded } from "./use-loaded.js";

const HOUR_MS = 3_600_000;
const SPANS = {
  day: { label: "the last 24 hours", ms: 24 * HOUR_MS, step: "hour" },
  week: { label: "the last 7 days", ms: 7 * 24 * HOUR_MS, step: "hour" },
  month: { label: "the last 30 days", ms: 30 * 24 * HOUR_MS, step: "day" },
} as const;
type Span = keyof typeof SPANS;

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

interface Line {
  readonly label: string;
  /** One a step; null: not known, which is a gap. */
  readonly values: readonly (number | null)[];
}

interface PlotProps {
  readonly title: string;
  readonly steps: readonly PlotStep[];
  readonly lines: readonly Line[];
  readonly form: (value: number) => string;
}

const HEIGHT = 180;
/** Lines that can be told apart; others are in the table. */
const MOST_LINES = 6;
/** Custom properties of the styles, in the order of the lines. */
const COLOURS = ["--plot-1", "--plot-2", "--plot-3", "--plot-4", "--plot-5", "--plot-6"];
const DASHES = [[], [8, 4], [2, 3], [12, 4, 2, 4], [4, 4], [1, 5]];

/** Lines over time, and the same as a table. */
function Plot({ title, steps, lines, form }: PlotProps) {
  const isKnown = lines.some(({ values }) => values.some((value) => value !== null));
  return (
    <figure class="card plot">
      <figcaption>
        <h2>{title}</h2>
      </figcaption>
      {isKnown ? <Drawing steps={steps} lines={lines.slice(0, MOST_LINES)} form={form} /> : <Empty>Unknown for this time.</Empty>}
      {lines.length > MOST_LINES && <p class="note">{lines.length - MOST_LINES} more in the table.</p>}
      {isKnown && (
        <details>
          <summary>
            As a table<span class="sr">: {title}</span>
          </summary>
          <Table
            label={title}
            of={steps}
            columns={[
              ["From", ({ at }) => <When at={at} />],
              ...lines.map(
                ({ label, values }) => [label, (_: PlotStep, index: number) => <Figure of={values[index] ?? null} form={form} />] as const,
              ),
            ]}
          />
        </details>
      )}
    </figure>
  );
}

function Drawing({ steps, lines, form }: Omit<PlotProps, "title">) {
  const place = useRef<HTMLDivElement>(null);
  // Colours are read when it is drawn.
  const colours = theme.value;
  useEffect(() => {
    const node = place.current;
    if (node === null) return;
    const draw = () => new UPlot(optionsOf(node, lines, form), dataOf(steps, lines), node);
    let drawn = draw();
    const again = () => {
      drawn.destroy();
      drawn = draw();
    };
    const resized = new ResizeObserver(() => drawn.width !== widthOf(node) && drawn.setSize({ width: widthOf(node), height: HEIGHT }));
    resized.observe(node);
    const looks = ["(prefers-color-scheme: dark)", "(forced-colors: active)"].map((query) => matchMedia(query));
    for (const look of looks) look.addEventListener("change", again);
    return () => {
      resized.disconnect();
      for (const look of looks) look.removeEventListener("change", again);
      drawn.destroy();
    };
  }, [steps, lines, form, colours]);
  // Whoever can't see it has the table.
  return <div ref={place} class="drawing" aria-hidden="true" />;
}

const widthOf = (node: HTMLElement): number => Math.max(160, node.clientWidth);

function dataOf(steps: readonly PlotStep[], lines: readonly Line[]): UPlot.AlignedData {
  const known = steps.flatMap(({ at }, index) => {
    const time = timeOf(at ?? "");
    return time === null ? [] : [{ index, seconds: time.getTime() / 1000 }];
  });
  const rows = known.toSorted((a, b) => a.seconds - b.seconds);
  return [rows.map(({ seconds }) => seconds), ...lines.map(({ values }) => rows.map(({ index }) => values[index] ?? null))];
}

/** As a canvas takes it: a custom property may hold one for each of light and dark. */
function colourIn(node: HTMLElement, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  node.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const DAY_SECONDS = 86_400;

/** Days below where a day begins, hours between. */
function momentsOf(splits: readonly number[]): string[] {
  return splits.map((seconds, index) => {
    const time = new Date(seconds * 1000);
    const isNewDay = index === 0 || new Date((splits[index - 1] ?? 0) * 1000).getDate() !== time.getDate();
    const isByDay = splits.length > 1 && (splits[1] ?? 0) - (splits[0] ?? 0) >= DAY_SECONDS;
    const parts = [!isByDay && hourOf(time), isNewDay && dayOf(time)];
    return parts.filter(Boolean).join("\n");
  });
}

/** No two marks beside each other that read alike. */
const marksOf = (splits: readonly number[], form: (value: number) => string): string[] =>
  splits.map((value, index) => (index > 0 && form(value) === form(splits[index - 1] ?? value) ? "" : form(value)));

function optionsOf(node: HTMLElement, lines: readonly Line[], form: (value: number) => string): UPlot.Options {
  const style = getComputedStyle(node);
  const colourOf = (name: string) => colourIn(node, name);
  const axis = {
    stroke: style.color,
    grid: { stroke: colourOf("--plot-grid"), width: 1 },
    ticks: { show: false },
    font: `12px ${style.fontFamily}`,
  };
  return {
    width: widthOf(node),
    height: HEIGHT,
    // Half of the last moment stands beside the plot: "12:00 PM".
    padding: [null, 32, null, null],
    cursor: { drag: { x: false, y: false } },
    legend: { live: true },
    scales: { y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.1 : 1] } },
    axes: [
      { ...axis, values: (_plot, splits) => momentsOf(splits) },
      { ...axis, size: 70, values: (_plot, splits) => marksOf(splits, form) },
    ],
    series: [
      { label: "", value: (_plot, seconds) => (seconds === null ? "" : momentOf(new Date(seconds * 1000))) },
      ...lines.map(({ label }, index) => ({
        label,
        stroke: colourOf(COLOURS[index] ?? "--plot-1"),
        dash: DASHES[index] ?? [],
        width: 2,
        points: { show: false, filter: (plot: UPlot, series: number) => alone(plot.data[series] ?? []) },
        value: (_plot: UPlot, value: number | null, _series: number, index: number | null) => valueAt(index, value, form),
      })),
    ],
  };
}

/** Points that no line reaches, as nothing beside them is known. */
function alone(values: ArrayLike<number | null | undefined>): number[] {
  return Array.from(values).flatMap((value, index) =>
    value != null && values[index - 1] == null && values[index + 1] == null ? [index] : [],
  );
}

/** Nothing where nothing is pointed at. */
function valueAt(index: number | null, value: number | null, form: (value: number) => string): string {
  if (index === null) return "";
  return value === null ? "unknown" : form(value);
}
