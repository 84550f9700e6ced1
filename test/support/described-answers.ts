import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { JsonSchema } from "./arbitrary-json.js";
import { parseEvents } from "./http-client.js";

interface DescribedResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}

export interface DescribedOperation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean; readonly schema: JsonSchema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> };
  readonly responses: Readonly<Record<string, DescribedResponse>>;
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly headers: Readonly<Record<string, { readonly schema: JsonSchema }>>;
  };
}

/** Every operation, with its method in capitals. */
export function operationsOf({ paths }: ApiDocument) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/** Headers that say how an answer travels or is shown, whatever it is. */
const OF_TRANSPORT =
  /^(content-(type|length|security-policy)|cache-control|vary|cross-origin-.*|origin-agent-cluster|referrer-policy|x-accel-buffering)$/;
const OF_SECURITY =
  /^(permissions-policy|strict-transport-security|x-(content-type-options|dns-prefetch-control|download-options|frame-options|permitted-cross-domain-policies|xss-protection))$/;

/** Holds answers to what the document says of their operation: status, content type, body, events, headers, a problem's code. */
export class DescribedAnswers {
  readonly #document: ApiDocument;
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, coerceTypes: false });
  readonly #compiled = new Map<JsonSchema, ValidateFunction>();

  constructor(document: ApiDocument) {
    this.#document = document;
  }

  /** What is wrong with the answer; empty where it is as described. */
  complaints(operation: DescribedOperation, response: Response, body: string): string[] {
    const described = operation.responses[String(response.status)];
    if (described === undefined) return [`status ${response.status} is not described: ${body}`];
    return [...this.#ofHeaders(described, response.headers), ...this.#ofBody(described, response.headers, body)];
  }

  #ofHeaders({ headers = {} }: DescribedResponse, given: Headers): string[] {
    const named = new Map(Object.entries(headers).map(([name, { $ref }]) => [name.toLowerCase(), $ref.split("/").at(-1) ?? ""]));
    return [...given].flatMap(([name, value]) => {
      if (OF_TRANSPORT.test(name) || OF_SECURITY.test(name)) return [];
      const component = this.#document.components.headers[named.get(name) ?? ""];
      if (component === undefined) return [`the header ${name} is not described`];
      const said = component.schema.type === "integer" ? Number(value) : value;
      return this.#fits(component.schema, said, `the header ${name}`);
    });
  }

  #ofBody({ content, description }: DescribedResponse, headers: Headers, body: string): string[] {
    const type = headers.get("Content-Type")?.split(";")[0];
    if (content === undefined) return body === "" ? [] : ["a body is not described"];
    const schema = content[type ?? ""]?.schema;
    if (schema === undefined) return [`the content type ${type} is not described`];
    // Streams that protocols of others define are text here.
    if (type === "text/event-stream" && schema.$ref !== "#/components/schemas/ChatStream") return [];
    if (type === "text/event-stream")
      return parseEvents(body).flatMap((event) =>
        this.#fits({ $ref: "#/components/schemas/ChatEvent" }, event, `the event ${event.event}`),
      );
    if (!type?.includes("json")) return [];
    const parsed = JSON.parse(body) as { code?: string };
    const unlisted = type === "application/problem+json" && !description.includes(`\`${parsed.code}\``);
    return [...(unlisted ? [`the code ${parsed.code} is not listed`] : []), ...this.#fits(schema, parsed, "the body")];
  }

  #fits(schema: JsonSchema, value: unknown, what: string): string[] {
    const validate = this.#compiled.get(schema) ?? this.#ajv.compile({ ...schema, components: this.#document.components });
    this.#compiled.set(schema, validate);
    return validate(value) ? [] : [`${what}: ${this.#ajv.errorsText(validate.errors)}`];
  }
}
