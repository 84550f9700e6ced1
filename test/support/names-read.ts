import { parseSync } from "@swc/core";

interface Node {
  readonly type?: unknown;
  readonly value?: unknown;
  readonly property?: Node;
  readonly key?: Node;
}

/** Names of properties that code takes from an object: `config.NAME`, `config["NAME"]`, `const { NAME } = config`. Types, texts and comments take none. */
export function namesRead(source: string): ReadonlySet<string> {
  const names = new Set<string>();
  const take = (node: Node | undefined) => {
    if (typeof node?.value === "string") names.add(node.value);
  };
  const visit = (node: unknown): void => {
    if (node === null || typeof node !== "object") return;
    const { type, property, key } = node as Node;
    if (type === "MemberExpression")
      take(property?.type === "Computed" ? (property as { readonly expression?: Node }).expression : property);
    if (type === "AssignmentPatternProperty" || type === "KeyValuePatternProperty") take(key);
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseSync(source, { syntax: "typescript", target: "es2022" }));
  return names;
}
