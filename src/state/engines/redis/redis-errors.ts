import { AppError } from "../../../platform/errors.js";

const REFUSALS: Readonly<Record<string, string>> = {
  OOM: "it is out of memory",
  MISCONF: "it can't write to its disk",
  READONLY: "it is a replica",
  NOREPLICAS: "too few replicas follow it",
  LOADING: "it is loading its data",
  CLUSTERDOWN: "a part of the Cluster is down",
  WRONGPASS: "user or password is wrong",
  NOAUTH: "it asks for a password",
  NOPERM: "the user lacks a permission",
};

/** Those that waiting does not mend. */
const LASTING = ["WRONGPASS", "NOAUTH", "NOPERM"];

/** What Redis refuses, or doesn't answer, as STORAGE_UNAVAILABLE. The client's own error holds arguments, which are people's words. */
export function asStorageError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const code = replyCode(error);
  const name = (error as { readonly code?: unknown } | null)?.code;
  const detail =
    code === null ? `Redis is out of reach${typeof name === "string" ? ` (${name})` : ""}.` : `Redis answered ${code}${reasonOf(code)}.`;
  const cause = new Error(error instanceof Error ? error.message.split(/,? with args/)[0] : "an error that is none");
  return new AppError("STORAGE_UNAVAILABLE", { detail, cause, retryAfterSeconds: 1 });
}

/** The word of an answer that is an error, also where a script met it (`OOM`, `NOSCRIPT`); null where there was no answer. */
export function replyCode(error: unknown): string | null {
  if (!(error instanceof Error) || error.name !== "ReplyError") return null;
  const [first] = /^[A-Z]{2,20}/.exec(error.message) ?? ["an error"];
  return Object.keys(REFUSALS).find((code) => error.message.split(/[ -]/).includes(code)) ?? first;
}

export function isLasting(error: unknown): boolean {
  return LASTING.includes(replyCode(error) ?? "");
}

function reasonOf(code: string): string {
  return REFUSALS[code] === undefined ? "" : `: ${REFUSALS[code]}`;
}
