import type { ZodError } from "zod";
import { AppError, type ErrorCode, type ErrorDetail, pointerTo } from "../platform/errors.js";

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
const MAX_ISSUES = 20;

function detailsOf(error: ZodError, target: Target): ErrorDetail[] {
  return error.issues.slice(0, MAX_ISSUES).map((issue) => ({
    pointer: ROOT[target] + pointerTo(issue.path),
    detail: issue.message.slice(0, MAX_TEXT),
  }));
}

/** Fields of a body that its schema doesn't have. */
function unknownIn(error: ZodError): ErrorDetail[] {
  return error.issues.flatMap((issue) => {
    if (issue.code !== "unrecognized_keys") return [];
    const lines = issue.message.split("\n");
    return lines.map((detail, i) => ({ pointer: pointerTo([...issue.path, issue.keys[i] ?? ""]), detail: detail.slice(0, MAX_TEXT) }));
  });
}

/** A request that its schema refuses, as a problem that names each place. Ids that can't be one have codes of their own. */
export function invalidRequest(error: ZodError, target: Target, path: string): AppError {
  const unknown = target === "json" ? unknownIn(error) : [];
  if (unknown.length > 0) return new AppError("UNKNOWN_FIELD", { detail: unknown.map(({ detail }) => detail).join("; "), errors: unknown });
  const errors = detailsOf(error, target);
  let code: ErrorCode = "INVALID_REQUEST";
  const ofSession = path.startsWith("/v1/sessions") && errors.some(({ pointer }) => pointer === "/path/id");
  if (target === "param") code = ofSession ? "INVALID_SESSION_ID" : "INVALID_ID";
  else if (errors.every(({ pointer }) => pointer.endsWith("/session_id"))) code = "INVALID_SESSION_ID";
  return new AppError(code, { detail: errors.map(({ pointer, detail }) => `${pointer || "/"}: ${detail}`).join("; "), errors });
}
