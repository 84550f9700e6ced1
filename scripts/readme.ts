/**
 * Writes the table of variables into docs/configuration.md, between its two markers, the options of the library that stand for them, and the
 * plots of docs/benchmarks.md. `test/readme.test.ts` fails when one is out of date.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { VARIABLES } from "../src/compose/config.js";
import { drawn, PLOTS } from "./plots.js";
import { settingsSource } from "./settings.js";

const BEGIN = "<!-- variables: made by `npm run readme` -->";
const END = "<!-- end of variables -->";

export function withVariables(page: string): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new TypeError("docs/configuration.md lacks the markers of the table of variables");
  return `${before}${BEGIN}\n${table()}\n${END}${after}`;
}

function table(): string {
  const rows = Object.entries(VARIABLES).map(
    ([name, { fallback, meaning }]) => `| \`${name}\` | ${code(fallback)} | ${meaning.replaceAll("|", "\\|")} |`,
  );
  return ["| variable | default | |", "|---|---|---|", ...rows].join("\n");
}

function code(fallback: string): string {
  if (fallback === "") return "–";
  return fallback.includes("`") || fallback.includes(" ") ? fallback : `\`${fallback}\``;
}

if (process.argv[1] === import.meta.filename) {
  const path = join(import.meta.dirname, "..", "docs", "configuration.md");
  writeFileSync(path, withVariables(readFileSync(path, "utf8")));
  writeFileSync(join(import.meta.dirname, "..", "src", "library", "settings.ts"), settingsSource());
  for (const [name, plot] of Object.entries(PLOTS)) writeFileSync(join(import.meta.dirname, "..", "docs", name), drawn(plot));
}
