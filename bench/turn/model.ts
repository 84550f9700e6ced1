import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A model on loopback, in a process of its own: answers every chat at once, in three pieces, and every request for JSON with the emptiest
 * value that its schema allows; of a message that says "I like …." a reading keeps that. Says its port to its parent.
 */
const PIECES = ["Very ", "well, ", "I will look into it."];
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

interface Schema {
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface Asked {
  readonly messages: readonly { readonly content: unknown }[];
  readonly stream?: boolean;
  readonly response_format?: { readonly json_schema?: { readonly schema: Schema } };
}

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  if (!request.url?.endsWith("/chat/completions")) response.writeHead(404).end("{}");
  else answer(JSON.parse(Buffer.concat(chunks).toString("utf8")) as Asked, response);
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.once("disconnect", () => process.exit(0));

function answer({ messages, stream, response_format: format }: Asked, response: ServerResponse): void {
  const schema = format?.json_schema?.schema;
  const pieces = schema === undefined ? PIECES : [JSON.stringify(inForm(schema, String(messages.at(-1)?.content)))];
  if (stream !== true) {
    const message = { role: "assistant", content: pieces.join("") };
    const body = { id: "bench", object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }], usage: USAGE };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    return;
  }
  const event = (more: object) => `data: ${JSON.stringify({ id: "bench", object: "chat.completion.chunk", ...more })}\n\n`;
  const chunk = (delta: object, more: object) => event({ choices: [{ index: 0, delta, finish_reason: null, ...more }] });
  const said = pieces.map((content) => chunk({ role: "assistant", content }, {}));
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end([...said, chunk({}, { finish_reason: "stop" }), event({ choices: [], usage: USAGE }), "data: [DONE]\n\n"].join(""));
}

/** What stands before the last "I like" of a reading's text is known already. */
function inForm(schema: Schema, text: string): unknown {
  const quote = /.*(I like [^.]*)/s.exec(text)?.[1];
  const empty = emptiest(schema);
  if (quote === undefined || schema.properties?.operations === undefined) return empty;
  const operation = { op: "add", quote, text: quote.replace("I like", "Likes"), category: "other", aspect: quote, strength: "soft" };
  return { ...(empty as object), operations: [{ ...operation, stance: "stated" }] };
}

function emptiest(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) return schema.anyOf.some(({ type }) => type === "null") ? null : emptiest(schema.anyOf[0] ?? {});
  const types = [schema.type].flat();
  if (types.includes("null")) return null;
  if (types.includes("object"))
    return Object.fromEntries((schema.required ?? []).map((name) => [name, emptiest(schema.properties?.[name] ?? {})]));
  if (types.includes("array")) return [];
  if (types.includes("string")) return "";
  return types.includes("boolean") ? false : 0;
}
