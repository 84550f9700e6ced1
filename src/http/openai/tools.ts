import { z } from "@hono/zod-openapi";
import { invalidField } from "../../platform/errors.js";
import type { ToolSpec } from "../../ports/chat-model.js";

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
