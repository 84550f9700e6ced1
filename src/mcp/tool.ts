import type { CallToolResult, Tool, ToolAnnotations } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Memory } from "../domain/memory.js";
import type { Role } from "../domain/session.js";
import { invalidRequest } from "../http/http.js";
import type { ChatAnswer, HistoryHit } from "../ports/resources.js";

/** What the tools ask of the one user that they work for: `maitred.for({ user })` has all of it. */
export interface McpUser {
  /** One turn. */
  chat(
    message: string,
    options: {
      readonly sessionId?: string;
      readonly pageContext?: string;
      readonly incognito?: boolean;
      readonly channel: string;
      /** IANA name. */
      readonly timeZone?: string;
      readonly signal: AbortSignal;
    },
  ): Promise<ChatAnswer>;
  /** Long-term memory. */
  readonly memories: {
    add(
      text: string,
      options: {
        readonly category?: string;
        readonly strength?: "hard" | "soft";
        readonly subject?: string;
        readonly scope?: "standing" | "trip";
        readonly validUntil?: string | null;
      },
    ): Promise<Memory>;
    search(
      query: string,
      options: { readonly category?: string; readonly limit?: number; readonly signal: AbortSignal },
    ): Promise<readonly (Memory & { readonly score: number })[]>;
    forget(id: string): Promise<void>;
  };
  /** What was said, verbatim. */
  readonly history: {
    search(
      query: string,
      options: {
        readonly limit?: number;
        readonly sessionId?: string;
        readonly from?: string;
        readonly to?: string;
        readonly role?: Role;
        readonly context?: number;
        readonly signal: AbortSignal;
      },
    ): Promise<readonly HistoryHit[]>;
  };
}

/** What a call comes with beside its arguments. */
export interface ToolCall {
  /** Aborts when the client cancels, or is gone. */
  readonly signal: AbortSignal;
  /** IANA name, where the client told it. */
  readonly timeZone: string | undefined;
}

/** A tool as the server lists and calls it. */
export interface McpTool {
  /** What `tools/list` says of it. */
  readonly listed: Tool;
  /** @throws INVALID_REQUEST, INVALID_SESSION_ID, UNKNOWN_FIELD for arguments that it doesn't take, and what the work throws */
  call(user: McpUser, given: unknown, call: ToolCall): Promise<CallToolResult>;
}

interface McpToolParts<Input extends z.ZodObject, Output extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  /** What of the work's result is shown: fields that it doesn't name are left out. */
  readonly output: Output;
  readonly annotations: Required<Omit<ToolAnnotations, "title">>;
  readonly run: (user: McpUser, input: z.output<Input>, call: ToolCall) => Promise<unknown>;
  /** The result for who reads text alone. Default: its JSON, in which what somebody said can't be taken for anything else. */
  readonly texts?: (result: z.output<Output>) => readonly string[];
}

export function mcpTool<Input extends z.ZodObject, Output extends z.ZodObject>(parts: McpToolParts<Input, Output>): McpTool {
  const { name, title, description, input, output, annotations, run, texts = (result) => [JSON.stringify(result)] } = parts;
  return {
    listed: {
      name,
      title,
      description,
      inputSchema: jsonSchemaOf(input, "input") as Tool["inputSchema"],
      outputSchema: jsonSchemaOf(output, "output") as NonNullable<Tool["outputSchema"]>,
      annotations,
    },
    async call(user, given, call) {
      const checked = input.safeParse(given);
      if (!checked.success) throw invalidRequest(checked.error, "json", "");
      const result = output.parse(await run(user, checked.data, call));
      return { structuredContent: result, content: texts(result).map((text) => ({ type: "text", text })) };
    },
  };
}

/** Times are told by their format alone: its pattern would be longer than all the rest. */
function jsonSchemaOf(schema: z.ZodObject, io: "input" | "output"): object {
  const { $schema: _, ...told } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
    },
  });
  return told;
}
