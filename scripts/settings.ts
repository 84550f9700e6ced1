import { VARIABLES } from "../src/compose/config.js";
import { optionOf } from "../src/library/variables-of.js";

/** The options of `createMaitred` that stand for variables, as source text: made from the schema, so that they say the same. */

const HEAD = `// Over 300 lines: an option for each variable, generated.

import type { Variables } from "../compose/config.js";

/** A variable's value, as its schema reads it. */
type Setting<Name extends keyof Variables> = Exclude<Variables[Name], undefined> | undefined;

/** The variables in the table, as options. Made from their schema by \`npm run readme\`. */
export interface Settings {
`;
/** What may be given beside the schema's own type. */
const MORE: Readonly<Record<string, string>> = { CORS_ORIGINS: "readonly string[] | " };
const MAX_LINE = 130;

export function settingsSource(): string {
  const members = Object.entries(VARIABLES).map(([name, { fallback, meaning }]) => {
    const text = `${asOptions(meaning)}${fallback === "" ? "" : ` Default: ${asOptions(fallback).replace(/\.$/, "")}.`}`;
    return `${comment(text)}\n  readonly ${optionOf(name)}?: ${MORE[name] ?? ""}Setting<"${name}">;\n`;
  });
  return `${HEAD}${members.join("")}}\n`;
}

/** Variables by the names that options have; what refers to a page of the repository is left out. */
function asOptions(text: string): string {
  return text
    .replaceAll(/ \(`docs\/[^)]*\)/g, "")
    .replaceAll(/\b[A-Z][A-Z0-9_]+\b/g, (name) => (name in VARIABLES ? optionOf(name) : name));
}

function comment(text: string): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line.length + word.length < MAX_LINE) lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
    else lines.push(word);
  }
  return lines.length === 1 ? `  /** ${lines[0]} */` : `  /**\n${lines.map((line) => `   * ${line}`).join("\n")}\n   */`;
}
