import parse from "parse-prometheus-text-format";

type Labels = Readonly<Record<string, string>>;

/** A scrape as Prometheus understands it: the parser reads every sample, and the types of their families. */
export class Scrape {
  /** By name; `_bucket`, `_sum` and `_count` of a histogram are not told apart from it. */
  readonly types: ReadonlyMap<string, string>;
  readonly #samples: ReturnType<typeof parse>;

  constructor(text: string) {
    this.types = new Map(parse(text).map(({ name, type }) => [name, type.toLowerCase()]));
    // It puts histograms together whatever their labels say: without their types it leaves their samples as they are.
    this.#samples = parse(text.replaceAll(/^#.*$/gm, ""));
  }

  get names(): readonly string[] {
    return [...this.types.keys()];
  }

  /** Of the first sample that has these labels; undefined where there is none. */
  value(name: string, labels: Labels = {}): number | undefined {
    const samples = this.#samples.filter((each) => each.name === name).flatMap(({ metrics }) => metrics);
    const sample = samples.find(({ labels: given = {} }) => Object.entries(labels).every(([label, value]) => given[label] === value));
    return sample?.value === undefined ? undefined : Number(sample.value);
  }

  /** How often a histogram was observed. */
  count(name: string, labels: Labels = {}): number {
    return this.value(`${name}_count`, labels) ?? 0;
  }

  /** In seconds, for what is timed. */
  sum(name: string, labels: Labels = {}): number {
    return this.value(`${name}_sum`, labels) ?? 0;
  }

  /** Every value that a label has anywhere. */
  labelValues(): ReadonlySet<string> {
    return new Set(this.#samples.flatMap(({ metrics }) => metrics.flatMap(({ labels = {} }) => Object.values(labels))));
  }
}
