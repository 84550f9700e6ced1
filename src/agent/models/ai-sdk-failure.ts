import { z } from "zod";
import { EndpointFailure, statusIn } from "./endpoint-failure.js";

/** What is read of the SDK's `APICallError`, and of the errors that providers send in mid-stream. */
const failureSchema = z.looseObject({
  statusCode: z.number().optional().catch(undefined),
  responseBody: z.string().optional().catch(undefined),
  responseHeaders: z.record(z.string(), z.string().optional()).optional().catch(undefined),
  isRetryable: z.boolean().optional().catch(undefined),
  name: z.string().optional().catch(undefined),
  message: z.string().optional().catch(undefined),
  code: z.union([z.string(), z.number()]).optional().catch(undefined),
  error: z.looseObject({ code: z.unknown() }).optional().catch(undefined),
});

/** Neither message nor cause of the original go further: both may hold the request. */
export function aiSdkFailure(error: unknown): EndpointFailure {
  if (error instanceof EndpointFailure) return error;
  const parsed = failureSchema.safeParse(error instanceof Error ? { ...error, name: error.name, message: error.message } : error);
  if (!parsed.success) return new EndpointFailure("refused", typeof error === "string" ? { body: error } : {});
  const { statusCode, responseBody, responseHeaders, isRetryable, name, message } = parsed.data;
  const header = (wanted: string) => responseHeaders?.[wanted] ?? null;
  const body = responseBody ?? JSON.stringify({ message: message ?? "" });
  if (statusCode !== undefined && statusCode >= 400) return new EndpointFailure("refused", { status: statusCode, body, header });
  if (name === "AI_APICallError" && isRetryable === true) return new EndpointFailure("unreachable");
  // No key, an unknown option, a prompt that the provider can't send: refused before it was sent, for good.
  if (name?.startsWith("AI_Load") || name === "AI_UnsupportedFunctionalityError" || name === "AI_InvalidPromptError")
    return new EndpointFailure("refused", { status: name.startsWith("AI_Load") ? 401 : 400, body });
  if (error instanceof Error) return new EndpointFailure("unreadable");
  // As it came in mid-stream: what has a status outside of one has it there too.
  const status = statusIn(parsed.data.code ?? parsed.data.error?.code);
  return new EndpointFailure("refused", { body: JSON.stringify(error), ...(status !== undefined && { status }) });
}
