import { OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context, MiddlewareHandler } from "hono";
import { userOf } from "../library/library.js";
import type { Clock } from "../platform/clock.js";
import { isAppError } from "../platform/errors.js";
import type { Application } from "../ports/application.js";
import { jsonBody } from "./body.js";
import type { HttpEnv } from "./http-env.js";
import { asProblem, invalidRequest, OF_USERS, WITH_BODY } from "./problem.js";
import { type ApiApp, answers, body, orNothing, requireAccept, routesOf } from "./routes.js";

export const MCP_PATH = "/mcp";

/** JSON-RPC's codes for what can't be read, and for what is no request. */
const PARSE_ERROR = -32_700;
const INVALID_MESSAGE = -32_600;

const id = z.union([z.string().max(256), z.number().int()]);

const messageSchema = z
  .strictObject({
    jsonrpc: z.literal("2.0"),
    id: id.optional().openapi({ description: "Of a request; a notification has none." }),
    method: z.string().max(256),
    params: z.record(z.string(), z.unknown()).optional(),
  })
  .openapi("McpMessage");

const errorSchema = z
  .object({
    jsonrpc: z.literal("2.0"),
    id: id.nullable(),
    error: z.object({ code: z.number().int(), message: z.string(), data: z.unknown().optional() }),
  })
  .openapi("McpError");

const resultSchema = z.object({ jsonrpc: z.literal("2.0"), id, result: z.record(z.string(), z.unknown()) }).openapi("McpResult");

const headers = z.object({ "MCP-Protocol-Version": z.string().optional() });

const route = routesOf("MCP")("post", MCP_PATH, "callMcp", {
  summary: "The Model Context Protocol over streamable HTTP: one message, answered as JSON",
  description:
    "Tools: `chat`, `search_memories`, `add_memory`, `forget_memory`, `search_history`. The server keeps no session of the protocol; " +
    "there are no batches and no stream. What a tool refuses is a result with `isError`, whose text is JSON with `code` and `hint`.",
  request: { headers, body: body(messageSchema) },
  responses: orNothing(answers(z.union([resultSchema, errorSchema]), "The answer to a request."), 202, "Taken: a notification has none."),
  fails: [...OF_USERS, ...WITH_BODY],
  errorContent: (status: number) => ({ ...asProblem, ...(status === 400 && { "application/json": { schema: errorSchema } }) }),
});

/** Reads the body as every route does; what is no JSON is an error of the protocol. */
export function mcpBody(): MiddlewareHandler<HttpEnv> {
  const read = jsonBody(new Set(), new Map());
  return async (c, next) => {
    try {
      await read(c, async () => {});
    } catch (error) {
      if (isAppError(error, "INVALID_REQUEST")) return refused(c, PARSE_ERROR, error.message);
      throw error;
    }
    return next();
  };
}

/**
 * Each message has a server of its own, for the user that the request comes from: nothing is kept between them, so that any process may
 * answer. Who hangs up breaks off what runs: there is no other way to take the answer.
 */
export function mcpRoutes(application: Application, clock: Clock): ApiApp {
  const api = new OpenAPIHono<HttpEnv>({
    defaultHook: (result, c) =>
      result.success ? undefined : refused(c, INVALID_MESSAGE, invalidRequest(result.error, result.target, c.req.path).message),
  });
  api.openapi(route, async (c) => {
    requireAccept(c, "application/json");
    // Takes a while to load, and most servers are never asked.
    const { answerOf, mcpServer } = await import("../mcp/mcp.js");
    const timeZone = c.get("timeZone");
    const user = await userOf(application, { owner: c.get("owner"), timeZone: timeZone ?? c.get("identity").timeZone }, clock);
    const server = mcpServer(user, { timeZone, signal: c.req.raw.signal, failed: c.get("report") });
    return answerOf(server, c.req.valid("json"), c.req.header("MCP-Protocol-Version"));
  });
  return api;
}

function refused(c: Context<HttpEnv>, code: number, message: string): Response {
  return c.json({ jsonrpc: "2.0", id: null, error: { code, message } }, 400);
}
