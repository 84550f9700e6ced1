import fc from "fast-check";
import { MEMORY_ID, SESSION_ID } from "./samples.js";

/** JSON Schema as OpenAPI 3.1 documents hold it: what is needed here. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  /** Fields that don't go together. */
  readonly not?: { readonly required?: readonly string[] };
  readonly items?: JsonSchema;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly example?: unknown;
}

/** Strings that have broken systems before. */
const HOSTILE_STRINGS: readonly string[] = [
  "",
  " ",
  ".",
  "..",
  "../../../../etc/passwd",
  "..\\..\\windows",
  "/",
  "//",
  "%00",
  "%2e%2e%2f",
  "%",
  "%zz",
  "\u0000",
  "a\u0000b",
  "a\r\nSet-Cookie: x=1",
  "\u001b[31mred",
  "CON",
  "NUL.txt",
  "COM1",
  "*",
  "user:*",
  "__proto__",
  "constructor",
  "toString",
  "null",
  "NaN",
  "-1",
  "1e309",
  "9007199254740993",
  "０１９３６ｂ２ｅ",
  "а01936b2e",
  "\u202e\u2066gnp",
  "\ufeff",
  "😀".repeat(50),
  "x".repeat(10_000),
  "' OR 1=1 --",
  "<script>alert(1)</script>",
  "{{7*7}}",
  "$" + "{7*7}",
  "01936b2e-7c00-7000-8000-000000000001\n",
  "01936B2E-7C00-7000-8000-000000000001",
];

export const hostileString: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...HOSTILE_STRINGS),
  fc.string({ unit: "binary", maxLength: 40 }),
);

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileString,
  fc.constantFrom(null, true, -1, 0, 1.5, 1e308, Number.MAX_SAFE_INTEGER, [], {}, [[]], { __proto__: null }),
  fc.jsonValue({ maxDepth: 4 }),
);

/** Values that fit a schema, or, where the schema says little, nearly so. */
export function fitting(schema: JsonSchema, root: Readonly<Record<string, JsonSchema>>): fc.Arbitrary<unknown> {
  if (schema.$ref) {
    const target = root[schema.$ref.split("/").at(-1) ?? ""];
    if (!target) throw new Error(`the document has no ${schema.$ref}`);
    return fitting(target, root);
  }
  if (schema.example !== undefined) return fc.constant(schema.example);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map((choice) => fitting(choice, root)));
  if (schema.allOf)
    return fc.tuple(...schema.allOf.map((part) => fitting(part, root))).map((parts) => Object.assign({}, ...parts) as unknown);
  const types = Array.isArray(schema.type) ? (schema.type as readonly string[]) : [schema.type as string | undefined];
  return fc.oneof(...types.map((type) => ofType(type, schema, root)));
}

function ofType(type: string | undefined, schema: JsonSchema, root: Readonly<Record<string, JsonSchema>>): fc.Arbitrary<unknown> {
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 1000 });
    case "number":
      return fc.double({ min: 0, max: 1, noNaN: true });
    case "array":
      return fc.array(fitting(schema.items ?? {}, root), { maxLength: Math.min(schema.maxItems ?? 4, 4) });
    case "object": {
      const properties = Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, fitting(inner, root)] as const);
      const required = [...(schema.required ?? [])];
      const made = fc.record(Object.fromEntries(properties), { requiredKeys: required }) as fc.Arbitrary<Record<string, unknown>>;
      const [first, ...others] = schema.not?.required ?? [];
      if (first === undefined) return made;
      return made.map((given) => {
        if (others.every((name) => name in given)) delete given[first];
        return given;
      });
    }
    case "string":
      if (schema.format === "uuid") return fc.constantFrom(SESSION_ID, MEMORY_ID, "01936b2e-7c00-7000-8000-0000000000ff");
      if (schema.format === "date-time")
        return fc.date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true }).map((date) => date.toISOString());
      return fc.string({ minLength: Math.max(1, schema.minLength ?? 1), maxLength: Math.min(schema.maxLength ?? 30, 30) });
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}
