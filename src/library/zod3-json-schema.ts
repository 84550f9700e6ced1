/**
 * What a schema of zod 3 takes, as JSON Schema: zod 3 can't tell it itself. Names, kinds and descriptions, for a model to go by; lengths,
 * ranges and refinements are left to the schema, which checks what the model sends. A kind that isn't listed takes anything.
 */

/** As far as it is looked at. */
interface Zod3 {
  readonly description?: string | undefined;
  readonly _def: {
    readonly typeName: string;
    readonly innerType?: Zod3;
    readonly schema?: Zod3;
    /** Of an array its items, of a brand what is branded. */
    readonly type?: Zod3;
    readonly in?: Zod3;
    readonly valueType?: Zod3;
    readonly values?: unknown;
    readonly value?: unknown;
    readonly options?: readonly Zod3[];
    readonly items?: readonly Zod3[];
    readonly checks?: readonly { readonly kind: string }[];
    readonly shape?: () => Readonly<Record<string, Zod3>>;
  };
}

type Json = Record<string, unknown>;

export function isZod3(schema: object): schema is Zod3 {
  const definition = "_def" in schema ? (schema._def as { readonly typeName?: unknown } | undefined) : undefined;
  return typeof definition?.typeName === "string" && definition.typeName.startsWith("Zod");
}

export function zod3JsonSchema(schema: Zod3): Json {
  const { description } = schema;
  return { ...kindOf(schema), ...(description !== undefined && { description }) };
}

function kindOf({ _def: definition }: Zod3): Json {
  const { typeName, innerType, schema, type, values, options = [], items = [] } = definition;
  switch (typeName) {
    case "ZodString":
    case "ZodDate":
      return { type: "string" };
    case "ZodNumber":
      return { type: definition.checks?.some(({ kind }) => kind === "int") ? "integer" : "number" };
    case "ZodBoolean":
      return { type: "boolean" };
    case "ZodNull":
      return { type: "null" };
    case "ZodLiteral":
      return { const: definition.value };
    case "ZodEnum":
      return { type: "string", enum: values };
    case "ZodNativeEnum":
      return { enum: Object.values(values ?? {}) };
    case "ZodArray":
      return { type: "array", items: type ? zod3JsonSchema(type) : {} };
    case "ZodTuple":
      return { type: "array", prefixItems: items.map(zod3JsonSchema) };
    case "ZodRecord":
      return { type: "object", additionalProperties: definition.valueType ? zod3JsonSchema(definition.valueType) : {} };
    case "ZodUnion":
    case "ZodDiscriminatedUnion":
      return { anyOf: [...options.values()].map(zod3JsonSchema) };
    case "ZodNullable":
      return { anyOf: [innerType ? zod3JsonSchema(innerType) : {}, { type: "null" }] };
    case "ZodObject":
      return objectOf(definition.shape?.() ?? {});
    default: {
      // Optional, default, catch, readonly; effects; brands; pipelines: what they stand around.
      const inner = innerType ?? schema ?? type ?? definition.in;
      return inner ? zod3JsonSchema(inner) : {};
    }
  }
}

function objectOf(shape: Readonly<Record<string, Zod3>>): Json {
  const required = Object.keys(shape).filter((name) => !mayBeAbsent(shape[name]));
  const properties = Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, zod3JsonSchema(field)]));
  return { type: "object", properties, ...(required.length > 0 && { required }) };
}

function mayBeAbsent(field: Zod3 | undefined): boolean {
  if (field === undefined) return true;
  const { typeName, innerType, schema } = field._def;
  if (["ZodOptional", "ZodDefault", "ZodCatch"].includes(typeName)) return true;
  const inner = innerType ?? schema;
  return inner !== undefined && mayBeAbsent(inner);
}
