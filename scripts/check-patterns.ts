import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "@swc/core";
import { checkSync } from "recheck";
import { z } from "zod";

/**
 * Judges every regular expression of src/ and packages/: each may meet text from outside, so the time of none may grow faster than the text. What is
 * vulnerable fails, and so does what can't be judged, unless patterns-excused.json gives a reason; a reason that excuses nothing fails too.
 * Arguments: files to look at instead of all.
 */
const root = join(fileURLToPath(import.meta.url), "..", "..");
const excusedSchema = z.array(z.strictObject({ under: z.string(), pattern: z.string().optional(), reason: z.string().min(10) }));
const excuses = excusedSchema.parse(JSON.parse(readFileSync(join(root, "scripts/patterns-excused.json"), "utf8")));
/** Milliseconds for one expression; what takes longer can't be judged. Few take a second alone; beside other work a minute was not enough. */
const TIMEOUT_MS = 600_000;

interface Pattern {
  readonly source: string;
  readonly flags: string;
  readonly file: string;
}

function filesOf(): readonly string[] {
  const named = process.argv.slice(2);
  if (named.length > 0) return named;
  const folders = ["src", ...readdirSync(join(root, "packages")).map((name) => join("packages", name, "src"))];
  return folders.flatMap((folder) => {
    const all = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
    return all.filter((file) => /\.(?:ts|js)$/u.test(file)).map((file) => join(folder, file));
  });
}

/** Every literal, and every `RegExp(...)` that is put together at run time. */
function patternsOf(file: string): readonly Pattern[] {
  const found: Pattern[] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(visit);
    else if (typeof node === "object" && node !== null) {
      const { type, pattern, flags, callee } = node as Readonly<Record<string, unknown>>;
      if (type === "RegExpLiteral") found.push({ source: String(pattern), flags: String(flags), file });
      if ((type === "NewExpression" || type === "CallExpression") && (callee as { value?: unknown } | undefined)?.value === "RegExp")
        found.push({ source: "", flags: "", file });
      Object.values(node).forEach(visit);
    }
  };
  visit(
    parseSync(readFileSync(join(root, file), "utf8"), { syntax: file.endsWith(".ts") ? "typescript" : "ecmascript", target: "es2022" }),
  );
  return found;
}

const verdicts = new Map<string, string>();

function verdictOn({ source, flags }: Pattern): string {
  if (source === "") return "put together at run time";
  const key = `/${source}/${flags}`;
  const known = verdicts.get(key);
  if (known !== undefined) return known;
  const result = checkSync(source, flags, { timeout: TIMEOUT_MS, attackTimeout: 300, incubationTimeout: 300 });
  const detail = result.status === "unknown" ? result.error.kind : result.complexity.summary;
  const verdict = result.status === "safe" ? "safe" : `${result.status} (${detail})`;
  verdicts.set(key, verdict);
  return verdict;
}

const used = new Set<unknown>();
let failed = 0;
const patterns = filesOf().flatMap((file) => patternsOf(relative(".", file)));
for (const pattern of patterns) {
  const excuse = excuses.find(
    ({ under, pattern: only }) => pattern.file.startsWith(under) && (only === undefined || only === `/${pattern.source}/${pattern.flags}`),
  );
  if (excuse !== undefined) {
    used.add(excuse);
    continue;
  }
  const verdict = verdictOn(pattern);
  if (verdict === "safe") continue;
  failed += 1;
  console.log(`${pattern.file}: ${verdict}: /${pattern.source}/${pattern.flags}`);
}
const stale = process.argv.length > 2 ? [] : excuses.filter((excuse) => !used.has(excuse));
for (const { under, pattern } of stale) console.log(`patterns-excused.json: nothing is excused by ${under} ${pattern ?? ""}`);
console.log(`${patterns.length} regular expressions, ${verdicts.size} judged, ${failed} failed`);
process.exitCode = failed + stale.length > 0 ? 1 : 0;
