/**
 * Keywords that some endpoints refuse, and that cost tokens wherever they are taken. What they demand is checked when the answer is
 * parsed.
 */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "$comment",
  "format",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minItems",
  "maxItems",
  "uniqueItems",
  "contentEncoding",
  "contentMediaType",
  "propertyNames",
]);
/** Their members are names, not keywords. */
const NAMED: ReadonlySet<string> = new Set(["properties", "$defs", "definitions"]);
const made = new WeakMap<object, Readonly<Record<string, unknown>>>();

/** A JSON schema without regular expressions, formats, lengths and ranges. */
export function plainSchema(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const known = made.get(schema) ?? (plain(schema, false) as Readonly<Record<string, unknown>>);
  made.set(schema, known);
  return { ...known };
}

function plain(value: unknown, named: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => plain(item, false));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => named || !LEFT_OUT.has(key));
  return Object.fromEntries(
    entries.map(([key, inner]) => [
      key,
      !named && (key === "enum" || key === "const" || key === "default") ? inner : plain(inner, !named && NAMED.has(key)),
    ]),
  );
}

/**
 * The schema of an object without the nulls that its fields may be: for what a model writes a field that is left out says the same, in
 * fewer words.
 */
export function withoutNulls(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { properties } = schema;
  if (typeof properties !== "object" || properties === null) return { ...schema };
  return { ...schema, properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, notNull(field)])) };
}

function notNull(field: { readonly anyOf?: readonly { readonly type?: string }[] }): object {
  const { anyOf, ...rest } = field;
  const [value, none, ...more] = anyOf ?? [];
  return value !== undefined && none?.type === "null" && more.length === 0 ? { ...value, ...rest } : field;
}
