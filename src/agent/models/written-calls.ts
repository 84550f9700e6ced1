import type { ModelToolCall, ToolSpec } from "../../ports/chat-model.js";

/**
 * Calls that a model wrote as text instead of making them, in the forms that are seen: JSON with `name` and `arguments` (or `parameters`),
 * one, a list, or one a line; and `<function=name><parameter=key>value</parameter></function>`. Null where it is none.
 */
export function writtenCalls(mark: string, text: string, tools: readonly ToolSpec[]): ModelToolCall[] | null {
  const inner = mark === "<function=" ? `${mark}${text}</function>` : text;
  const read = inner.includes("<function=") ? functionTags(inner, tools) : jsonCalls(inner);
  if (read === null || read.length === 0) return null;
  // Without any mark it is a call only where it names a tool.
  if (mark === "" && !read.every(({ name }) => tools.some((tool) => tool.name === name))) return null;
  return read;
}

function jsonCalls(text: string): ModelToolCall[] | null {
  const values = parsed(text) ?? text.split("\n").flatMap((line) => (line.trim() === "" ? [] : (parsed(line) ?? [null])));
  const calls: ModelToolCall[] = [];
  for (const value of values) {
    if (typeof value !== "object" || value === null) return null;
    const given = value as Readonly<Record<string, unknown>>;
    const args = given.arguments ?? given.parameters ?? {};
    if (typeof given.name !== "string" || !("arguments" in given || "parameters" in given || mark(given))) return null;
    calls.push({ id: "", name: given.name, arguments: typeof args === "string" ? args : JSON.stringify(args) });
  }
  return calls;
}

/** A call of a tool that takes nothing is its name alone. */
function mark(given: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(given).length === 1;
}

function parsed(text: string): unknown[] | null {
  try {
    const value: unknown = JSON.parse(text.trim());
    return Array.isArray(value) ? value : [value];
  } catch {
    return null;
  }
}

function functionTags(text: string, tools: readonly ToolSpec[]): ModelToolCall[] | null {
  const calls: ModelToolCall[] = [];
  for (const piece of text.split("<function=").slice(1)) {
    const end = piece.indexOf(">");
    if (end === -1) return null;
    const name = piece.slice(0, end).trim().replaceAll('"', "");
    const body = piece.slice(end + 1).split("</function>")[0] ?? "";
    if (!body.includes("<parameter=")) {
      const args = body.trim() === "" ? [{}] : parsed(body);
      if (args === null) return null;
      calls.push({ id: "", name, arguments: JSON.stringify(args[0]) });
      continue;
    }
    const given: Record<string, unknown> = {};
    for (const parameter of body.split("<parameter=").slice(1)) {
      const at = parameter.indexOf(">");
      if (at === -1) return null;
      const key = parameter.slice(0, at).trim();
      const value = (parameter.slice(at + 1).split("</parameter>")[0] ?? "").replace(/^\n/, "").replace(/\n$/, "");
      given[key] = isText(tools, name, key) ? value : (parsed(value)?.[0] ?? value);
    }
    calls.push({ id: "", name, arguments: JSON.stringify(given) });
  }
  return calls;
}

/** Whether the tool's schema says that the parameter is text: "12" then stays "12". */
function isText(tools: readonly ToolSpec[], name: string, key: string): boolean {
  const properties = tools.find((tool) => tool.name === name)?.parameters.properties as Record<string, { type?: unknown }> | undefined;
  return properties?.[key]?.type === "string";
}
