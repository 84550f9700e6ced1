/** The reference of the HTTP API as pages, from the product's own OpenAPI document. */

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly example?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Header {
  readonly $ref?: string;
  readonly description?: string;
  readonly schema?: Schema;
}

interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Content;
}

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema?: Schema;
  }[];
  readonly requestBody?: { readonly required?: boolean; readonly description?: string; readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
}

/** As much of an OpenAPI document as is shown. */
export interface ApiDocument {
  readonly info: { readonly description?: string };
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers?: Readonly<Record<string, Header>>;
    readonly securitySchemes?: Readonly<Record<string, { readonly type: string; readonly name?: string; readonly description?: string }>>;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Route extends Operation {
  /** `POST /v1/chat` */
  readonly heading: string;
}

const SCHEMAS = "schemas.md";

/** The pages by their names: an index, one for each tag, and one of the schemas. */
export function httpReference(document: ApiDocument): Readonly<Record<string, string>> {
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]): Route => ({ ...described, heading: `${method.toUpperCase()} ${path}` })),
  );
  const tags = new Set(routes.flatMap((route) => route.tags));
  const byTag = [...tags].map((tag) => [tag, routes.filter((route) => route.tags.includes(tag))] as const);
  const pages = byTag.map(([tag, all]) => [pageName(tag), page(tag, all.map(operation))] as const);
  return {
    "index.md": index(document, byTag),
    ...Object.fromEntries(pages),
    [SCHEMAS]: page("Schemas", Object.entries(document.components.schemas).map(namedSchema)),
  };
}

function pageName(tag: string): string {
  return `${tag.toLowerCase().replaceAll(" ", "-")}.md`;
}

function page(title: string, parts: readonly string[]): string {
  return `# ${title}\n\n${parts.join("\n\n")}\n`;
}

function index({ info, components }: ApiDocument, byTag: readonly (readonly [tag: string, routes: readonly Route[]])[]): string {
  const schemes = Object.entries(components.securitySchemes ?? {}).map(([name, { description = "" }]) => [
    `\`${name}\``,
    prose(description),
  ]);
  const routes = byTag.map(([tag, all]) => {
    const rows = all.map(({ operationId, heading, summary = "" }) => [
      `[\`${heading}\`](${pageName(tag)}#${operationId.toLowerCase()})`,
      prose(summary),
    ]);
    return `## ${tag}\n\n${table(["route", "description"], rows)}`;
  });
  return page("HTTP API reference", [
    `${prose(info.description ?? "")} Made from the document that a server gives at \`/openapi.json\`. [Schemas](${SCHEMAS}) are on a page of their own.`,
    ...routes,
    `## Authentication\n\n${table(["scheme", "description"], schemes)}`,
  ]);
}

function operation({ operationId, heading, summary, description, security, parameters = [], requestBody, responses }: Route): string {
  const given = parameters.map(({ name, in: place, required = false, description: told, schema = {} }) => [
    `\`${name}\``,
    place,
    typeOf(schema),
    required ? "yes" : "",
    meaning({ ...schema, description: told ?? schema.description ?? "" }),
  ]);
  const answers = Object.entries(responses).map(([status, { description: told, content = {} }]) => [status, bodyOf(content), prose(told)]);
  const headers = new Set(Object.values(responses).flatMap((response) => Object.keys(response.headers ?? {})));
  return [
    `## ${operationId}`,
    `\`${heading}\``,
    ...[summary, description].filter((text) => text !== undefined).map((text) => prose(text)),
    ...(security ? [`**Authentication**: ${security.map((scheme) => Object.keys(scheme).join(" and ") || "none").join(", or ")}`] : []),
    ...(given.length > 0 ? [`**Parameters**\n\n${table(["name", "in", "type", "required", "description"], given)}`] : []),
    ...(requestBody ? [`**Request body**: ${bodyOf(requestBody.content)}${requestBody.required ? "" : " (optional)"}`] : []),
    `**Responses**\n\n${table(["status", "body", "description"], answers)}`,
    ...(headers.size > 0 ? [`**Response headers**: ${[...headers].map((name) => `\`${name}\``).join(", ")}`] : []),
  ].join("\n\n");
}

function bodyOf(content: Content): string {
  return Object.entries(content)
    .map(([type, { schema = {} }]) => `${typeOf(schema)} as \`${type}\``)
    .join(", or ");
}

function namedSchema([name, schema]: readonly [string, Schema]): string {
  const fields = Object.entries(schema.properties ?? {}).map(([field, value]) => [
    `\`${field}\``,
    typeOf(value),
    schema.required?.includes(field) ? "yes" : "",
    meaning(value),
  ]);
  return [
    `## ${name}`,
    ...(schema.description ? [prose(schema.description)] : []),
    fields.length > 0 ? table(["field", "type", "required", "description"], fields) : typeOf(schema),
    ...(fields.length > 0 && schema.additionalProperties ? ["More fields may be there."] : []),
  ].join("\n\n");
}

/** A type in a few words, with links to those that have a name. */
function typeOf(schema: Schema): string {
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1) ?? "";
    return `[${name}](${SCHEMAS}#${name.toLowerCase()})`;
  }
  if (schema.enum) return schema.enum.map((value) => code(JSON.stringify(value))).join(" or ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map(typeOf).join(" or ");
  if (schema.allOf) return schema.allOf.map(typeOf).join(" and ");
  if (schema.items) return `array of ${typeOf(schema.items)}`;
  if (schema.properties) {
    const fields = Object.entries(schema.properties).map(([name, value]) => `\`${name}\`: ${typeOf(value)}`);
    return fields.length > 0 ? `object of ${fields.join("; ")}` : "object";
  }
  if (typeof schema.additionalProperties === "object") return `object with values of ${typeOf(schema.additionalProperties)}`;
  return [schema.type ?? "any"].flat().join(" or ");
}

/** What a description says, and between which limits a value lies. */
function meaning(schema: Schema): string {
  const { description, format, pattern, minimum, exclusiveMinimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const limits = [
    format && `format ${code(format)}`,
    pattern && `pattern ${code(pattern)}`,
    minimum !== undefined && `at least ${minimum}`,
    exclusiveMinimum !== undefined && `more than ${exclusiveMinimum}`,
    maximum !== undefined && `at most ${maximum}`,
    minLength !== undefined && `at least ${minLength} characters`,
    maxLength !== undefined && `at most ${maxLength} characters`,
    minItems !== undefined && `at least ${minItems} items`,
    maxItems !== undefined && `at most ${maxItems} items`,
    schema.default !== undefined && `default ${code(JSON.stringify(schema.default))}`,
    schema.example !== undefined && `for example ${code(JSON.stringify(schema.example))}`,
  ].filter((limit) => typeof limit === "string" && limit !== "");
  const bounds = limits.join(", ").replace(/^[a-z]/, (first) => first.toUpperCase());
  return [prose(description ?? ""), bounds].filter((text) => text !== "").join(" ");
}

/** Text of the document, in which nothing is markup but code between backticks. */
function prose(text: string): string {
  return text
    .split("`")
    .map((part, at) =>
      at % 2 === 1
        ? code(part)
        : part
            .replaceAll("&", "&amp;")
            .replaceAll("<", "&lt;")
            .replaceAll("{{", "&#123;&#123;")
            .replaceAll(/[|*_[\]\\]/g, "\\$&"),
    )
    .join("")
    .replaceAll(/\s+/g, " ")
    .trim();
}

function code(text: string): string {
  const fence = text.includes("`") ? "``" : "`";
  return `${fence}${text.replaceAll("|", "\\|")}${fence}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
