/** In what a tool may say what it takes. */

/** A schema of the Standard Schema kind: zod 3.24 and newer, zod 4, Valibot, ArkType and others (https://standardschema.dev). */
export interface StandardSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
    /** For types alone: `output` is what validation gives. */
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
    /** Tells the schema as JSON Schema, where it can. */
    readonly jsonSchema?: { readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown> } | undefined;
  };
}

export type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] };

/** A plain JSON Schema (draft 2020-12 or 7) of an object. */
export interface JsonObjectSchema {
  readonly type: "object";
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

export type ToolSchema = StandardSchema | JsonObjectSchema;

/** What `run` is given: what the schema's validation gives. */
export type ToolInput<Schema> = Schema extends { readonly "~standard": { readonly types?: infer Types } }
  ? NonNullable<Types> extends { readonly output: infer Output }
    ? Output
    : unknown
  : FromJson<Schema>;

type FromJson<Schema> = Schema extends { readonly enum: readonly (infer Value)[] }
  ? Value
  : Schema extends { readonly const: infer Value }
    ? Value
    : Schema extends { readonly type: keyof Plain }
      ? Plain[Schema["type"]]
      : Schema extends { readonly type: "array"; readonly items: infer Item }
        ? readonly FromJson<Item>[]
        : Schema extends { readonly type: "object"; readonly properties: infer Properties }
          ? FromProperties<Properties, RequiredOf<Schema>>
          : unknown;

interface Plain {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly null: null;
}

type RequiredOf<Schema> = Schema extends { readonly required: readonly (infer Name)[] } ? Name : never;

type FromProperties<Properties, Required> = {
  readonly [Name in keyof Properties as Name extends Required ? Name : never]: FromJson<Properties[Name]>;
} & {
  readonly [Name in keyof Properties as Name extends Required ? never : Name]?: FromJson<Properties[Name]> | undefined;
};

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
