import { parsedJson, wholeJsonIn } from "../../platform/json.js";
import type { ModelToolCall, ToolSpec } from "../../ports/chat-model.js";
import { FENCE } from "./answer-marks.js";

/**
 * Calls that a model wrote as text instead of making them, in the forms that are seen: JSON with `name` and `arguments` (or `parameters`),
 * one, a list, or one a line; `<function=name><parameter=key>value</parameter></function>`; DeepSeek's and gpt-oss's own; and
 * `[name(key="value")]`. Null where it is none.
 */
export function writtenCalls(mark: string, text: string, tools: readonly ToolSpec[]): ModelToolCall[] | null {
  const read = callsIn(mark, text, tools)?.map((call) => readCall(call, tools)) ?? null;
  if (read === null || read.length === 0) return null;
  // Without any mark it is a call only where it names a tool.
  if ((mark === "" || mark === FENCE.open) && !read.every(({ name }) => tools.some((tool) => tool.name === name))) return null;
  return read;
}

function callsIn(mark: string, text: string, tools: readonly ToolSpec[]): ModelToolCall[] | null {
  const inner = mark === "<function=" ? `${mark}${text}</function>` : mark === FENCE.open ? text.replace(FENCE_LANGUAGE, "") : text;
  if (inner.includes("<function=")) return functionTags(inner, tools);
  if (mark.endsWith(" to=")) return channelCall(inner);
  if (inner.includes(DEEPSEEK_CALL)) return deepseekCalls(inner);
  return jsonCalls(inner) ?? pythonCalls(inner);
}

const FENCE_LANGUAGE = /^[\w-]{0,20}\s*\n?/u;

/**
 * A call as its tool knows it: names lose what some models put around them (`functions.search`, `search<|channel|>commentary`), arguments
 * that were encoded twice or are null become an object.
 */
export function readCall(call: ModelToolCall, tools: readonly ToolSpec[]): ModelToolCall {
  return { ...call, name: nameIn(call.name, tools), arguments: argumentsIn(call.arguments) };
}

function nameIn(given: string, tools: readonly ToolSpec[]): string {
  const isTool = (name: string) => tools.some((tool) => tool.name === name);
  if (isTool(given)) return given;
  const bare = given.split("<|", 1)[0]?.trim() ?? "";
  const last = bare.slice(bare.lastIndexOf(".") + 1);
  return isTool(bare) ? bare : isTool(last) ? last : given;
}

function argumentsIn(given: string): string {
  const text = given.trim();
  if (text === "null") return "{}";
  if (!text.startsWith('"')) return given;
  const inner = parsed(text)?.[0];
  return typeof inner === "string" && inner.trimStart().startsWith("{") && parsed(inner) !== null ? inner : given;
}

/** `functions.search <|constrain|>json<|message|>{…}` */
function channelCall(text: string): ModelToolCall[] | null {
  const [head = "", body = ""] = text.split("<|message|>");
  const name = /^[\w.-]{1,100}/u.exec(head.trim())?.[0];
  return name === undefined ? null : [{ id: "", name, arguments: body.trim() === "" ? "{}" : body.trim() }];
}

const DEEPSEEK_CALL = "<｜tool▁call▁begin｜>";

/** `function<｜tool▁sep｜>search`, a line, and JSON in a fence; or `search<｜tool▁sep｜>{…}`. */
function deepseekCalls(text: string): ModelToolCall[] | null {
  const calls = text.split(DEEPSEEK_CALL).slice(1);
  return calls.map((piece) => {
    const [head = "", rest = ""] = (piece.split("<｜tool▁call▁end｜>", 1)[0] ?? "").split("<｜tool▁sep｜>");
    const given = wholeJsonIn(rest) ?? "{}";
    const name = head.trim() === "function" ? (rest.trim().split(/[\s`{]/u, 1)[0] ?? "") : head.trim();
    return { id: "", name, arguments: given };
  });
}

const NAME = /^[A-Za-z_][\w.]{0,99}/u;

/** `[search(city="Vienna", limit=5), search(city="Graz")]`: names, and values that are JSON or as Python writes them. */
function pythonCalls(text: string): ModelToolCall[] | null {
  const list = text.trim();
  if (!list.startsWith("[") || !list.endsWith("]")) return null;
  const calls: ModelToolCall[] = [];
  for (let rest = nextIn(list.slice(1, -1)); rest !== ""; rest = nextIn(rest)) {
    const call = namedIn(rest, "(");
    if (call === null) return null;
    rest = nextIn(call.rest);
    const given: Record<string, unknown> = {};
    while (!rest.startsWith(")")) {
      const parameter = namedIn(rest, "=");
      const value = parameter && pythonValue(parameter.rest);
      if (!value) return null;
      given[parameter.name] = value.value;
      rest = nextIn(parameter.rest.slice(value.length));
    }
    rest = rest.slice(1);
    calls.push({ id: "", name: call.name, arguments: JSON.stringify(given) });
  }
  return calls;
}

/** What follows white space, and at most one comma. */
function nextIn(text: string): string {
  const left = text.trimStart();
  return left.startsWith(",") ? left.slice(1).trimStart() : left;
}

/** A name that this sign follows, and what stands behind it. */
function namedIn(text: string, sign: string): { readonly name: string; readonly rest: string } | null {
  const name = NAME.exec(text)?.[0];
  const behind = name === undefined ? "" : text.slice(name.length).trimStart();
  return name !== undefined && behind.startsWith(sign) ? { name, rest: behind.slice(sign.length).trimStart() } : null;
}

const VALUE = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\[[^[\]]*\]|-?\d+(?:\.\d+)?|True|False|None|true|false|null)/u;
const WORDS: Readonly<Record<string, unknown>> = { True: true, False: false, None: null };

function pythonValue(text: string): { readonly value: unknown; readonly length: number } | null {
  const literal = VALUE.exec(text)?.[0];
  if (literal === undefined) return null;
  const { length } = literal;
  if (literal in WORDS) return { value: WORDS[literal], length };
  const read = parsed(asJson(literal));
  return read === null ? null : { value: literal.startsWith("[") ? read : read[0], length };
}

/** Texts in single quotes as JSON has them. */
function asJson(literal: string): string {
  let json = "";
  let quote = "";
  for (let at = 0; at < literal.length; at++) {
    const sign = literal[at] ?? "";
    if (sign === "\\") {
      const escaped = literal[++at] ?? "";
      json += escaped === "'" ? escaped : sign + escaped;
    } else if (quote === "" ? sign === "'" || sign === '"' : sign === quote) {
      quote = quote === "" ? sign : "";
      json += '"';
    } else json += quote === "'" && sign === '"' ? '\\"' : sign;
  }
  return json;
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
  const value = parsedJson(text.trim());
  return value === undefined ? null : Array.isArray(value) ? value : [value];
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
