import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** The rules of ARCHITECTURE.md on who may import whom; a function, so that it can be shown to report a planted violation. */

const ONLY_IN: readonly { readonly module: RegExp; readonly file: RegExp; readonly rule: string }[] = [
  { module: /^openai(\/|$)/, file: /(^|\/)openai-[^/]*\.ts$/, rule: "openai appears only in openai-* files" },
  { module: /^mem0ai(\/|$)/, file: /(^|\/)mem0-[^/]*\.ts$/, rule: "mem0ai appears only in mem0-* files" },
  { module: /^(hono|@hono\/[^/]+)(\/|$)/, file: /^http\//, rule: "hono appears only in http/" },
  { module: /^ioredis(\/|$)/, file: /(^|\/)redis-[^/]*\.ts$/, rule: "ioredis appears only in redis-* files" },
  { module: /^@qdrant\/js-client-rest$/, file: /^vectors\/qdrant[^/]*\.ts$/, rule: "the Qdrant client appears only in vectors/qdrant*" },
];

const MAY_COMPOSE = new Set(["main.ts", "cli.ts", "index.ts"]);

export interface SourceFile {
  /** Relative to src, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export function readSources(src: string): SourceFile[] {
  return readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.includes("node_modules"))
    .map((path) => ({ path: path.replaceAll("\\", "/"), text: readFileSync(join(src, path), "utf8") }));
}

/** One line for each violation; none when the rules hold. */
export function importViolations(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) =>
    [...importsOf(file.text)].flatMap((specifier) => violationsOf(file.path, specifier)).concat(environmentReads(file)),
  );
}

function* importsOf(text: string): Iterable<string> {
  for (const match of text.matchAll(
    /(?:^|[\s;])(?:import|export)\s(?:[^"';]*?\sfrom\s)?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)/g,
  )) {
    const specifier = match[1] ?? match[2];
    if (specifier !== undefined) yield specifier;
  }
}

function violationsOf(path: string, specifier: string): string[] {
  if (!specifier.startsWith(".")) {
    return ONLY_IN.filter(({ module, file }) => module.test(specifier) && !file.test(path)).map(
      ({ rule }) => `${path}: imports ${specifier}: ${rule}`,
    );
  }
  const target = relative("/", join("/", dirname(path), specifier)).replaceAll("\\", "/");
  const [from, to] = [folderOf(path), folderOf(target)];
  if (target === "compose.js" && !MAY_COMPOSE.has(path)) return [`${path}: imports compose`];
  if (to === null || to === from || to === "platform") return [];
  if (from === null) {
    const own = path.replace(/\.ts$/, "");
    return isComposition(path) || to === own ? [] : [`${path}: a top-level file imports the folder ${to}/`];
  }
  return isComposition(path) ? [] : [`${path}: ${from}/ imports the folder ${to}/`];
}

/** Composition roots may name adapters. */
function isComposition(path: string): boolean {
  return path === "compose.ts" || path.startsWith("compose/") || MAY_COMPOSE.has(path);
}

function environmentReads(file: SourceFile): string[] {
  const allowed = file.path === "config.ts" || /(^|\/)mem0-environment\.ts$/.test(file.path);
  return !allowed && /\bprocess\.env\b/.test(file.text) ? [`${file.path}: reads process.env`] : [];
}

function folderOf(path: string): string | null {
  const slash = path.indexOf("/");
  return slash === -1 ? null : path.slice(0, slash);
}
