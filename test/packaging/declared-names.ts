import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseSync } from "@swc/core";

/** What declaration files say of names: which are exported, which docstrings they have, and which names they name. */

interface Node {
  readonly type: string;
  readonly span?: { readonly start: number; readonly end: number };
  readonly [key: string]: unknown;
}

interface Declared {
  readonly file: string;
  readonly name: string;
  readonly node: Node;
  /** The docstring before it; empty where there is none. */
  readonly docs: string;
}

interface Parsed {
  readonly declared: ReadonlyMap<string, Declared>;
  /** Names from beside: what they are called there, and in which file. */
  readonly imported: ReadonlyMap<string, { readonly file: string; readonly name: string }>;
  readonly exported: readonly { readonly name: string; readonly as: string; readonly from: string | null }[];
  /** Files all of whose names are exported. */
  readonly exportedFiles: readonly string[];
}

const known = new Map<string, Parsed>();

function parsed(file: string): Parsed {
  const before = known.get(file);
  if (before) return before;
  const text = readFileSync(file, "utf8");
  const bytes = Buffer.from(text);
  const body = (parseSync(text, { syntax: "typescript", target: "es2022" }) as unknown as { body: Node[]; span: { start: number } }).body;
  // Positions count on over all files that were parsed.
  const origin = parsedOrigin(body, bytes);
  const at = (source: unknown) => resolve(dirname(file), String((source as { value: string }).value).replace(/\.js$/, ".d.ts"));
  const declared = new Map<string, Declared>();
  const imported = new Map<string, { file: string; name: string }>();
  const exported: { name: string; as: string; from: string | null }[] = [];
  const exportedFiles: string[] = [];
  const declare = (node: Node, start: number, isExported: boolean) => {
    for (const { name, inner } of namesOf(node)) {
      declared.set(name, { file, name, node: inner, docs: docsBefore(bytes, start - origin) });
      if (isExported) exported.push({ name, as: name, from: null });
    }
  };
  for (const node of body) {
    const start = node.span?.start ?? 0;
    if (node.type === "ExportDeclaration") declare(node.declaration as Node, start, true);
    else if (node.type === "ExportAllDeclaration") exportedFiles.push(at(node.source));
    else if (node.type === "ExportNamedDeclaration")
      for (const { orig, exported: as } of node.specifiers as { orig: { value: string }; exported: { value: string } | null }[])
        exported.push({ name: orig.value, as: as?.value ?? orig.value, from: node.source ? at(node.source) : null });
    else if (node.type === "ImportDeclaration" && (node.source as { value: string }).value.startsWith("."))
      for (const { local, imported: of } of node.specifiers as { local: { value: string }; imported: { value: string } | null }[])
        imported.set(local.value, { file: at(node.source), name: of?.value ?? local.value });
    else declare(node, start, false);
  }
  const result = { declared, imported, exported, exportedFiles };
  known.set(file, result);
  return result;
}

/** Where the file begins in the parser's positions. */
function parsedOrigin(body: readonly Node[], bytes: Buffer): number {
  const first = body[0]?.span?.start ?? 0;
  const text = bytes.toString("utf8");
  const lead = /^(?:\s|\/\*[\s\S]*?\*\/|\/\/[^\n]*\n|#![^\n]*\n)*/.exec(text)?.[0] ?? "";
  return first - Buffer.byteLength(lead);
}

function namesOf(node: Node): { readonly name: string; readonly inner: Node }[] {
  const identifier = (node.id ?? node.identifier) as { readonly value?: string } | undefined;
  if (identifier?.value !== undefined) return [{ name: identifier.value, inner: node }];
  const variables = (node.declarations ?? []) as { readonly id: { readonly value?: string } }[];
  return variables.flatMap((each) => (each.id.value === undefined ? [] : [{ name: each.id.value, inner: each as unknown as Node }]));
}

function docsBefore(bytes: Buffer, at: number): string {
  return /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/.exec(bytes.subarray(0, at).toString("utf8"))?.[0] ?? "";
}

/** What a name of a file stands for: where it is declared. Null for a name of another package, and of the language. */
function resolved(file: string, name: string): Declared | null {
  const { declared, imported, exported, exportedFiles } = parsed(file);
  const here = declared.get(name);
  if (here) return here;
  const from = imported.get(name);
  if (from) return resolved(from.file, from.name);
  const passed = exported.find(({ as, from: source }) => as === name && source !== null);
  if (passed) return resolved(passed.from ?? file, passed.name);
  for (const each of exportedFiles) {
    const found = parsed(each).exported.some(({ as }) => as === name) ? resolved(each, name) : null;
    if (found) return found;
  }
  return null;
}

/** All that a file exports, by the name that it has there. */
export function exportsOf(file: string): ReadonlyMap<string, Declared> {
  const all = new Map<string, Declared>();
  const { exported, exportedFiles } = parsed(file);
  for (const each of exportedFiles) for (const [name, found] of exportsOf(each)) all.set(name, found);
  for (const { name, as, from } of exported) {
    const found = resolved(from ?? file, name);
    if (found) all.set(as, found);
  }
  return all;
}

/** The declarations of ours that a declaration names and that their own file exports: types of its members, parameters and results. */
export function namedBy({ file, node }: Declared): readonly Declared[] {
  const names = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (value === null || typeof value !== "object" || Array.isArray(value)) return;
    const { type, typeName, expression, exprName, accessibility } = value as Node;
    if (accessibility === "private" || type === "PrivateProperty") return;
    if (type === "TsTypeReference") names.add(leftmost(typeName));
    if (type === "TsExpressionWithTypeArguments") names.add(leftmost(expression));
    // What `typeof` of a value is, the compiler shows in full.
    if (type === "TsTypeQuery" && exprName === undefined) return;
    Object.values(value).forEach(visit);
  };
  visit(node);
  const found = [...names].flatMap((name) => resolved(file, name) ?? []);
  return found.filter((each) => parsed(each.file).exported.some(({ name }) => name === each.name));
}

function leftmost(name: unknown): string {
  const { value, left } = name as { readonly value?: string; readonly left?: unknown };
  return value ?? (left === undefined ? "" : leftmost(left));
}

/** Members of an interface or a class that have no docstring. */
export function withoutDocs({ file, node }: Declared): readonly string[] {
  const bytes = readFileSync(file);
  const text = bytes.toString("utf8");
  const members = ((node.body as { readonly body?: Node[] } | undefined)?.body ?? (node.body as Node[] | undefined) ?? []) as Node[];
  return members.flatMap((member) => {
    const key = member.key as { readonly value?: string } | undefined;
    if (key?.value === undefined || member.type === "PrivateProperty" || member.accessibility === "private") return [];
    const escaped = key.value.replaceAll("$", "\\$");
    const documented = new RegExp(`\\*/\\s*(?:readonly |static |get |async )*${escaped}[?<(:]`).test(text);
    return documented ? [] : [key.value];
  });
}
