import { AppError } from "../../platform/errors.js";

/** What Redis refuses, or doesn't answer. The client's own error holds the command's arguments, which are people's words. */
export function asStorageError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const code = replyCode(error);
  const detail = code === null ? "Redis is out of reach." : `Redis answered ${code}.`;
  return new AppError("STORAGE_UNAVAILABLE", { detail, cause: withoutArguments(error), retryAfterSeconds: 1 });
}

/** The first word of an answer that is an error (`OOM`, `READONLY`, `NOSCRIPT`); null where there was no answer. */
export function replyCode(error: unknown): string | null {
  if (!(error instanceof Error) || error.name !== "ReplyError") return null;
  return /^[A-Z]{2,20}/.exec(error.message)?.[0] ?? "an error";
}

function withoutArguments(error: unknown): Error {
  if (!(error instanceof Error)) return new Error("an error that is none");
  const [message = ""] = error.message.split(/,? with args/);
  const bare = new Error(message);
  bare.name = error.name;
  return bare;
}
