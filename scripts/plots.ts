/** The bars of docs/benchmarks.md, as SVG: each figure as it stands in the page, whose tests look for it there. */

interface Plot {
  readonly title: string;
  /** What stands before each bar, and its figure as the page has it. */
  readonly bars: readonly (readonly [label: string, figure: string])[];
}

export const PLOTS: Readonly<Record<string, Plot>> = {
  "plot-history.svg": {
    title: "History: evidence found among the first ten, without a key",
    bars: [
      ["words and meanings (minilm)", "0.857"],
      ["words and static embeddings", "0.840"],
      ["words alone", "0.799"],
      ["FTS5 BM25", "0.578"],
    ],
  },
  "plot-tokens.svg": {
    title: "Input tokens of a whole story",
    bars: [
      ["40 turns", "228,790"],
      ["40 turns, each message read by itself", "306,181"],
      ["another story", "406,553"],
      ["another, all of it sent each time", "692,278"],
    ],
  },
  "plot-field.svg": {
    title: "How many times as long as ours the best of the others takes",
    bars: [
      ["window of 1,000 rounds", "20"],
      ["recall among 1,000 memories", "3.6"],
      ["recall among 100,000", "14"],
      ["turn, without long-term memory", "2.9"],
      ["turn, with long-term memory", "2.9"],
      ["append, synced here alone", "0.27"],
    ],
  },
};

const WIDTH = 720;
const LEFT = 270;
const LONGEST = 370;
const ROW = 34;
const TOP = 48;

export function drawn({ title, bars }: Plot): string {
  const amount = (figure: string) => Number(figure.replaceAll(",", ""));
  const most = Math.max(...bars.map(([, figure]) => amount(figure)));
  const height = TOP + bars.length * ROW + 12;
  const rows = bars.map(([label, figure], at) => {
    const y = TOP + at * ROW;
    const width = Math.max(2, Math.round((amount(figure) / most) * LONGEST));
    return [
      `  <text class="label" x="${LEFT - 12}" y="${y + 17}">${label}</text>`,
      `  <rect class="bar" x="${LEFT}" y="${y}" width="${width}" height="24" rx="4" />`,
      `  <text x="${LEFT + width + 8}" y="${y + 17}">${figure}</text>`,
    ].join("\n");
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title desc">
  <title id="title">${title}</title>
  <desc id="desc">${bars.map(([label, figure]) => `${label}: ${figure}`).join("; ")}</desc>
  <style>
    svg { font: 14px system-ui, sans-serif; }
    .paper { fill: #ffffff; } text { fill: #1f2937; } .label { text-anchor: end; } .title { font-weight: 600; } .bar { fill: #1d4ed8; }
    @media (prefers-color-scheme: dark) { .paper { fill: #1b1b1f; } text { fill: #e5e7eb; } .bar { fill: #60a5fa; } }
  </style>
  <rect class="paper" width="${WIDTH}" height="${height}" rx="12" />
  <text class="title" x="20" y="28">${title}</text>
${rows.join("\n")}
</svg>
`;
}
