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
