import { z } from "zod";
import type { Element, JsonObject, JsonValue, Source } from "../domain/session.js";
import { AppError } from "../platform/errors.js";
import { unknownFields } from "../platform/nearest-name.js";
import type { AnyTool, Tool, ToolContext } from "../ports/agent.js";
import type { Binding, Found, LookUp, Shown } from "../ports/binding.js";
import { isZod3, type StandardResult, type StandardSchema, type ToolInput, type ToolSchema, zod3JsonSchema } from "./tool-schema.js";

declare const CANDIDATE: unique symbol;

/** A tool of any input, and what of a domain's catalogue it looks up or binds: for types alone. */
export type OfCatalogue<Item> = AnyTool & { readonly [CANDIDATE]?: Item };

/** What a tool looks up. `items`: of its output, those that may be bound, or are; default none. */
export interface LookUpDefinition<Input, Output, Item> extends LookUp<Input> {
  items?(output: Output): readonly Item[];
  /** Who comes to one of the items, as they were named when it was bound. Default: nobody is known. */
  with?(item: Item): readonly string[];
}

/** A tool as its author writes it. */
export interface ToolDefinition<Schema extends ToolSchema, Output, Item = never, Kept = never>
  extends Pick<Tool, "description" | "timeoutMs" | "maxCallsPerTurn" | "recap" | "offline"> {
  /** 1 to 64 letters, digits, `_` and `-`; one of its own among the agent's tools. */
  readonly name: string;
  /** What it takes: a schema of zod 3 or 4 or of another library of the Standard Schema kind, or a JSON Schema. Of an object. */
  readonly parameters: Schema;
  /** What the model is told of `parameters`, as JSON Schema. Needed where their library can't tell it (Valibot, ArkType by version). */
  readonly jsonSchema?: Readonly<Record<string, unknown>>;
  /**
   * Does the work. `input` has passed the schema; `context.signal` aborts with the turn and at the timeout. What it returns is what
   * the model reads, as `JSON.stringify` puts it, at most 16,000 characters. A throw becomes an observation: an AppError's detail and
   * hint, of anything else only that the tool failed.
   */
  run(input: ToolInput<Schema>, context: ToolContext): Output | Promise<Output>;
  /** What a client shows beside the answer. Default: nothing. */
  elements?(output: Output): readonly Element[];
  /** What the answer rests on. Default: nothing. */
  sources?(output: Output): readonly Source[];
  /** Ids of memories that shaped the output. Default: none did. */
  used?(output: Output): readonly string[];
  /**
   * It binds something: it shows first, acts in a later turn on the user's own agreement to what was shown, and the gate holds the needs of
   * everyone who comes against it. Default: it binds nothing.
   */
  readonly binds?: Binding<ToolInput<Schema>, Item>;
  /** It takes back what was bound: shows it first, and acts on the user's agreement. Default: it takes back nothing. */
  readonly ends?: Shown<ToolInput<Schema>, Kept>;
  /** It looks something up, and binds nothing. Each of the `items` is told with the needs that it breaks. Default: it doesn't say. */
  readonly looksUp?: true | LookUpDefinition<ToolInput<Schema>, Output, Item>;
}

/**
 * A tool for `createMaitred({ tools })` or a domain. `run` knows its input's type from `parameters`; its output is any plain value.
 * @throws INVALID_CONFIG for a name that models refuse, and for parameters that can't be told as JSON Schema
 *
 * @example
 * const findRooms = defineTool({
 *   name: "find_rooms",
 *   description: "Lists free rooms.",
 *   parameters: z.object({ guests: z.number().int().positive() }),
 *   run: ({ guests }) => rooms.filter((room) => room.beds >= guests),
 * });
 */
export function defineTool<const Schema extends ToolSchema, Output, Item = never, Kept = never>(
  definition: ToolDefinition<Schema, Output, Item, Kept>,
): Tool<ToolInput<Schema>> & OfCatalogue<Item> {
  refuseWrongShape(definition);
  const { name, description, timeoutMs, maxCallsPerTurn, binds, ends, looksUp } = definition;
  const itemsOf = looksUp === true ? undefined : looksUp?.items;
  return {
    name,
    description,
    parameters: parametersOf(definition) as z.ZodType<ToolInput<Schema>>,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(maxCallsPerTurn !== undefined && { maxCallsPerTurn }),
    ...(binds && { binds: binds as Binding<ToolInput<Schema>> }),
    ...(ends && { ends: ends as Shown<ToolInput<Schema>> }),
    ...(definition.offline && { offline: definition.offline }),
    ...(looksUp && { looksUp: looksUp === true ? {} : looksUp }),
    ...(definition.recap && { recap: (output: JsonValue) => definition.recap?.(output) ?? output }),
    run: async (input, context) => {
      const output = await definition.run(input, context);
      const [elements, sources, used] = [definition.elements?.(output), definition.sources?.(output), definition.used?.(output)];
      const found = itemsOf && foundIn(output, itemsOf(output));
      const beside = { ...(elements && { elements }), ...(sources && { sources }), ...(used && { used }) };
      return { output: asJson(output), ...beside, ...(found && { found }) };
    },
  };
}

const FIELDS = Object.keys({
  name: true,
  description: true,
  parameters: true,
  jsonSchema: true,
  timeoutMs: true,
  maxCallsPerTurn: true,
  run: true,
  elements: true,
  sources: true,
  used: true,
  recap: true,
  binds: true,
  ends: true,
  offline: true,
  looksUp: true,
} satisfies Record<keyof ToolDefinition<ToolSchema, unknown>, true>);

/** For whoever writes it without types. @throws INVALID_CONFIG */
function refuseWrongShape(definition: unknown): void {
  const { name, description, parameters, run, ...rest } = (definition ?? {}) as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(rest).filter((field) => !FIELDS.includes(field));
  const named = String(name).slice(0, 64);
  const isName = typeof name === "string" && /^[a-zA-Z0-9_-]{1,64}$/.test(name);
  const wrong = [
    ...(isName ? [] : [`"${named}" can't name a tool: 1 to 64 letters, digits, "_" and "-"`]),
    ...(typeof description === "string" ? [] : ["`description` is missing: what it does and when to use it, for the model"]),
    ...(typeof parameters === "object" && parameters !== null ? [] : ["`parameters` is missing: a schema of an object"]),
    ...(typeof run === "function" ? [] : ["`run` is missing: the function that does the work"]),
    ...(unknown.length === 0 ? [] : [unknownFields(unknown, FIELDS)]),
  ];
  if (wrong.length > 0) throw new AppError("INVALID_CONFIG", { detail: `The tool "${named}": ${wrong.join("; ")}.` });
}

/** Marks stand at the items, where these are the output or one of its members; else beside it, in their order. */
function foundIn(output: unknown, items: readonly unknown[]): Found {
  const marked = (list: unknown, more: Parameters<Found["told"]>[0]) =>
    (list as readonly object[]).map((item, at) => ({ ...(asJson(item) as object), ...more[at] }) as JsonObject);
  const isThem = (value: unknown) =>
    Array.isArray(value) && value.length === items.length && value.every((each, at) => each === items[at] && isObject(each));
  return {
    items,
    told: (more) => {
      if (isThem(output)) return marked(output, more);
      const told = asJson(output);
      const members = isObject(output) ? Object.entries(output) : [];
      const [place] = members.find(([, value]) => isThem(value)) ?? [];
      const rest = isObject(told) ? told : { found: told };
      return { ...rest, ...(place === undefined ? { marks: [...more] } : { [place]: marked(items, more) }) };
    },
  };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** As JSON has it: dates as text, without what is undefined. */
function asJson(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value) ?? "null") as JsonValue;
}

type Given = Pick<ToolDefinition<ToolSchema, unknown, unknown, unknown>, "name" | "parameters" | "jsonSchema">;

/** @throws INVALID_CONFIG */
function parametersOf({ name, parameters, jsonSchema }: Given): z.ZodType {
  if (isZod4(parameters) && jsonSchema === undefined) return parameters;
  try {
    if (isStandard(parameters)) {
      const told = jsonSchema ?? (isZod3(parameters) ? zod3JsonSchema(parameters) : jsonSchemaOf(parameters));
      return taking(told, (value) => parameters["~standard"].validate(value));
    }
    const schema = z.fromJSONSchema(parameters as Parameters<typeof z.fromJSONSchema>[0]);
    return taking(jsonSchema ?? parameters, async (value) => resultOf(await schema.safeParseAsync(value)));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "they are no schema";
    throw new AppError("INVALID_CONFIG", { detail: `parameters of the tool ${name}: ${why}`, cause });
  }
}

function isZod4(schema: ToolSchema): schema is ToolSchema & z.ZodType {
  return "_zod" in schema;
}

function isStandard(schema: ToolSchema): schema is StandardSchema {
  return "~standard" in schema;
}

function jsonSchemaOf(schema: StandardSchema): Readonly<Record<string, unknown>> {
  const told = schema["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
  if (told === undefined) throw new TypeError("this kind of schema can't tell them as JSON Schema; give that as `jsonSchema` too");
  return told;
}

function resultOf(result: z.ZodSafeParseResult<unknown>): StandardResult {
  return result.success ? { value: result.data } : { issues: result.error.issues };
}

/** A schema that is told as `json` and checked by `validate`. */
function taking(
  json: Readonly<Record<string, unknown>>,
  validate: (value: unknown) => StandardResult | Promise<StandardResult>,
): z.ZodType {
  const { $schema: _schema, $id: _id, id: _name, ...told } = json;
  const check = z.transform(async (value: unknown, context) => {
    const result = await validate(value);
    if (result.issues === undefined) return result.value;
    for (const { message, path = [] } of result.issues)
      context.issues.push({ code: "custom", message, path: path.map(keyOf), input: value });
    return z.NEVER;
  });
  return z.unknown().meta(told).pipe(check);
}

/** A Standard Schema's path is of keys, or of objects that hold one. */
function keyOf(part: unknown): PropertyKey {
  return typeof part === "object" && part !== null && "key" in part ? (part.key as PropertyKey) : (part as PropertyKey);
}
