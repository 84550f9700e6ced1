import { z } from "@hono/zod-openapi";
import { type GivenImage, MAX_IMAGES } from "../../domain/image.js";
import type { JsonValue } from "../../domain/session.js";
import { invalidField } from "../../platform/errors.js";
import { parsedJson } from "../../platform/json.js";
import type { ToolSpec } from "../../ports/chat-model.js";
import { isPlainJson } from "../body.js";
import { textField } from "../fields.js";

/** Content of messages as OpenAI's two APIs have it: text, or parts of text and images. */

const MAX_MESSAGE_CHARS = 8_000;
const message = textField(MAX_MESSAGE_CHARS);

/** A part of any kind: those that are read are looked at where they count. */
const part = z.looseObject({ type: z.string() });
export const contentField = z.union([z.string(), z.array(part), z.null()], { error: "text, or a list of parts" }).optional();
export type Content = z.output<typeof contentField>;

const TEXT_TYPES: ReadonlySet<string> = new Set(["text", "input_text", "output_text", "refusal"]);

/** The text of content, parts apart by a line's end; what is no text is left out. */
export function textOf(content: Content): string {
  if (typeof content === "string") return content;
  const texts = (content ?? []).flatMap((each) => (TEXT_TYPES.has(each.type) && typeof each.text === "string" ? [each.text] : []));
  return texts.join("\n");
}

/** What the user says now. @throws INVALID_REQUEST for what is no message, `pointer` being where its content stands */
export function saidIn(content: Content, pointer: string): { readonly message: string; readonly images: readonly GivenImage[] } {
  const images: GivenImage[] = [];
  if (Array.isArray(content))
    for (const [at, each] of content.entries()) {
      const url = imageUrlOf(each);
      if (url !== null) images.push({ url });
      else if (!TEXT_TYPES.has(each.type) || typeof each.text !== "string")
        throw invalidField(`${pointer}/${at}`, "neither text nor an image by its address or as a data URL");
    }
  if (images.length > MAX_IMAGES) throw invalidField(pointer, `more than ${MAX_IMAGES} images`);
  const given = message.safeParse(textOf(content));
  if (!given.success) throw invalidField(pointer, given.error.issues[0]?.message ?? "no message");
  return { message: given.data, images };
}

/** Null for what is no image with an address. */
function imageUrlOf({ type, image_url: given }: z.output<typeof part>): string | null {
  if (type !== "image_url" && type !== "input_image") return null;
  const url = typeof given === "object" && given !== null && "url" in given ? given.url : given;
  return typeof url === "string" ? url : null;
}

/** What a client's tool gave: its JSON, or text that is none. */
export function outputOf(content: Content): JsonValue {
  const text = textOf(content);
  const value = parsedJson(text);
  return value !== undefined && isPlainJson(value) ? (value as JsonValue) : text;
}

/** Tools that a client runs by itself, as OpenAI's two APIs have them. */

const MAX_TOOLS = 128;
const MAX_NAME_CHARS = 64;

const functionShape = {
  name: z
    .string()
    .max(MAX_NAME_CHARS)
    .regex(/^[a-zA-Z0-9_-]+$/, "letters, digits, `_` and `-` alone"),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
};
const givenFunction = z.looseObject(functionShape);

/** Chat Completions has a function's fields in `function`, Responses beside the type. */
export const toolsField = z
  .array(z.looseObject({ type: z.string() }))
  .max(MAX_TOOLS)
  .nullish()
  .openapi({
    description:
      "Functions that the client runs: a call of one ends the answer, and its result goes on with it. Other kinds are passed over.",
  });

/** Which of the tools may be called: all, none, or the one that is named. */
export const toolChoiceField = z
  .union([z.string(), z.looseObject({ type: z.string() })])
  .nullish()
  .openapi({ description: "`none`, or a function by its name; anything else is `auto`." });

type GivenTools = z.output<typeof toolsField>;

/** None where the client has none, or wants none called. @throws INVALID_REQUEST */
export function toolsOf(given: GivenTools, choice: z.output<typeof toolChoiceField>): { readonly tools?: readonly ToolSpec[] } {
  const tools = (given ?? []).flatMap((tool, at) => (tool.type === "function" ? [specOf(tool, `/tools/${at}`)] : []));
  if (new Set(tools.map(({ name }) => name)).size < tools.length) throw invalidField("/tools", "two of one name");
  const only = nameIn(choice);
  const offered = choice === "none" ? [] : tools.filter(({ name }) => only === null || name === only);
  return offered.length === 0 ? {} : { tools: offered };
}

function specOf(tool: z.output<typeof givenFunction> | { readonly [field: string]: unknown }, pointer: string): ToolSpec {
  const nested = "function" in tool;
  const result = givenFunction.safeParse(nested ? tool.function : tool);
  if (result.success) {
    const { name, description, parameters } = result.data;
    return { name, description: description ?? "", parameters: parameters ?? { type: "object", properties: {} } };
  }
  const { path, message } = result.error.issues[0] ?? { path: [], message: "no function" };
  throw invalidField([pointer, ...(nested ? ["function"] : []), ...path.map(String)].join("/"), message);
}

function nameIn(choice: z.output<typeof toolChoiceField>): string | null {
  if (typeof choice !== "object" || choice === null || choice.type !== "function") return null;
  const { name = (choice.function as { readonly name?: unknown } | undefined)?.name } = choice;
  return typeof name === "string" ? name : null;
}
