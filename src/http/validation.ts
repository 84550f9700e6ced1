import type { ZodError } from "zod";
import { AppError, type ErrorCode, type ErrorDetail } from "../errors.js";

type Target = "json" | "form" | "query" | "param" | "header" | "cookie";

/** Where a part of the request stands in a problem's pointers: the body is the root. */
const ROOT: Readonly<Record<Target, string>> = {
  json: "",
  form: "",
  query: "/query",
  param: "/path",
  header: "/header",
  cookie: "/cookie",
};
const MAX_TEXT = 200;

function escapeToken(token: PropertyKey): string {
  return String(token).slice(0, MAX_TEXT).replaceAll("~", "~0").replaceAll("/", "~1");
}

function detailsOf(error: ZodError, target: Target): ErrorDetail[] {
  return error.issues.slice(0, 20).map((issue) => ({
    pointer: ROOT[target] + issue.path.map((token) => `/${escapeToken(token)}`).join(""),
    detail: issue.message.slice(0, MAX_TEXT),
  }));
}

/** A request that its schema refuses, as a problem that names each place. Ids that can't be one have codes of their own. */
export function invalidRequest(error: ZodError, target: Target, path: string): AppError {
  const errors = detailsOf(error, target);
  let code: ErrorCode = "INVALID_REQUEST";
  if (target === "param") code = path.startsWith("/v1/sessions") ? "INVALID_SESSION_ID" : "INVALID_ID";
  else if (errors.every(({ pointer }) => pointer.endsWith("/session_id"))) code = "INVALID_SESSION_ID";
  return new AppError(code, { detail: errors.map(({ pointer, detail }) => `${pointer || "/"}: ${detail}`).join("; "), errors });
}
