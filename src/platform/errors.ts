/**
 * The one error class. `code` is the API: it never changes within a major version; the texts may.
 * Every code's HTTP status, title and default hint stand in {@link ERRORS}.
 */
export interface ErrorSpec {
  readonly status: number;
  readonly title: string;
  readonly hint: string;
}

function spec(status: number, title: string, hint: string): ErrorSpec {
  return { status, title, hint };
}

/** Every code, with its HTTP status, its title and what to do about it. */
export const ERRORS = {
  INVALID_REQUEST: spec(400, "The request is not valid", "See `errors` for what is wrong and where."),
  UNKNOWN_FIELD: spec(400, "The body holds a field that is not known", "See `errors` for its name; /openapi.json lists the fields."),
  INVALID_USER_ID: spec(
    400,
    "The user id is not valid",
    "Use 1 to 256 characters without white space or control characters; `*` is reserved.",
  ),
  INVALID_SESSION_ID: spec(400, "The session id is not valid", "Use the `id` of a session that this API returned."),
  INVALID_ID: spec(400, "The id is not valid", "Use an id that this API returned."),
  INVALID_CURSOR: spec(400, "The cursor is not valid", "Use `next_cursor` of the page before, with the same filters."),
  INVALID_IMPORT: spec(400, "The import is not valid", "Nothing was kept. Mend what is named and send the file again."),
  INVALID_IMAGE: spec(
    400,
    "An image can't be taken",
    "Send PNG, JPEG, GIF or WebP: in base64, as a data URL, or by an https address that the model's provider can reach.",
  ),
  IMAGES_NOT_SUPPORTED: spec(
    400,
    "The model takes no images",
    "Send the message in words alone. Whoever runs this server: choose a model that sees (LLM_MODEL, OPENAI_MODEL, LLM_VISION).",
  ),
  TARGET_NOT_EMPTY: spec(
    409,
    "The target holds something else",
    "Give an empty one: another DATABASE_SCHEMA, REDIS_PREFIX or MEMORY_STORAGE_DIR, or one without what is there now.",
  ),
  TOOL_CALL_NOT_WAITING: spec(
    400,
    "No tool call waits for these results",
    "Send one result for each call of the session's last answer; where that is not at hand, say the user's message again.",
  ),
  CONFIRMATION_REQUIRED: spec(400, "This needs a confirmation", "Add `?confirm=true`."),
  UNAUTHENTICATED: spec(401, "Who you are is not known", "Send the credentials that this server's AUTH_MODE asks for."),
  FORBIDDEN_ORIGIN: spec(
    403,
    "This origin or host may not call the server",
    "In `local` mode only pages and clients on this machine may; see AUTH_MODE and CORS_ORIGINS.",
  ),
  SESSION_NOT_FOUND: spec(404, "There is no such session", "List your sessions with GET /v1/sessions."),
  MEMORY_NOT_FOUND: spec(404, "There is no such memory", "List your memories with GET /v1/memories."),
  MESSAGE_NOT_FOUND: spec(404, "There is no such message", "List a session's messages with GET /v1/sessions/{id}/messages."),
  IMAGE_NOT_FOUND: spec(404, "There is no such image", "A session's thread names its images; those with a `url` are not kept here."),
  JOB_NOT_FOUND: spec(404, "There is no such job", "Of those that have ended the newest hundred are known: list them."),
  EVENT_NOT_FOUND: spec(404, "There is no such event", "List those that were given up with GET /v1/events/dead."),
  NOT_FOUND: spec(404, "There is nothing here", "The routes are listed in /openapi.json."),
  METHOD_NOT_ALLOWED: spec(405, "This method is not allowed here", "See the `Allow` header."),
  NOT_ACCEPTABLE: spec(
    406,
    "No representation fits the Accept header",
    "Accept application/json, or text/event-stream with `stream: true`.",
  ),
  MERGE_NOT_FOUND: spec(404, "There is no such merge", "Use the `merge_id` that POST /v1/identities/merge gave for this tenant."),
  MERGE_FINAL: spec(410, "This merge can't be undone any more", "A merge can be undone for 30 days."),
  IDENTITY_MERGED: spec(
    409,
    "This user is merged with another",
    "A user is merged once, and not within 30 days of having been merged with others: undo that first, or wait.",
  ),
  SAME_IDENTITY: spec(422, "Both are the same user", "Name two users: `from`, whose things become `to`'s."),
  TURN_ANSWERED: spec(409, "The turn is answered already", "Repeat the request with its Idempotency-Key, or read the session's messages."),
  SESSION_NOT_ACTIVE: spec(409, "The session is not active", "Restore it, or start a new session."),
  SESSION_BUSY: spec(409, "The session is busy with another turn", "Send the message again when the other turn has ended."),
  MEMORIES_CHANGED: spec(409, "The memories were changed meanwhile", "Read them again and retry."),
  SESSION_CHANGED: spec(409, "The session was changed meanwhile", "Read it again and retry."),
  SESSION_HAS_LIVE_TURNS: spec(409, "The session has live turns", "Import into sessions that hold imported messages only."),
  INVALID_TRANSITION: spec(409, "The session can't change to that status", "See the session's present `status`."),
  IDEMPOTENCY_IN_PROGRESS: spec(409, "The first request with this key is still running", "Wait, then send the same request again."),
  OWNER_ERASED: spec(409, "This user's data is being erased, or merged with another's", "Send the request again when that is complete."),
  JOB_RUNNING: spec(409, "A job of this kind is running", "Wait until it has ended, or stop it."),
  LONG_TERM_MEMORY_DISABLED: spec(409, "Long-term memory is disabled", "Set MEM0_ENABLED=true."),
  HISTORY_DISABLED: spec(409, "History search is disabled", "Set HISTORY_BACKEND to where it is to be indexed, such as local or qdrant."),
  EDIT_NOT_LAST: spec(409, "Only the last user message can be edited", "Fork the session at the message instead."),
  PAYLOAD_TOO_LARGE: spec(413, "The request is too large", "Send less at once."),
  RECORD_TOO_LARGE: spec(413, "A journal record is too large", "Keep a record under 1 MiB."),
  COMMIT_TOO_LARGE: spec(413, "This is too much to be kept at once", "Send it in smaller pieces; nothing of it was kept."),
  UNSUPPORTED_MEDIA_TYPE: spec(415, "The content type is not supported", "Send application/json."),
  MEMORY_REFUSED: spec(422, "This can't be kept as a memory", "State what holds of you or a companion; no secrets, no instructions."),
  IDEMPOTENCY_KEY_REUSED: spec(422, "This idempotency key was used with another request", "Use a fresh key for a new request."),
  RATE_LIMITED: spec(429, "Too many requests", "Wait as long as Retry-After says."),
  COST_LIMIT_REACHED: spec(
    429,
    "The day's tokens are used up",
    "Try again when Retry-After says: the count starts anew at 00:00 UTC. Whoever runs this server may raise COST_HARD_LIMIT_TOKENS.",
  ),
  TOO_MANY_STREAMS: spec(429, "Too many streams at once", "Close a stream first."),
  TOO_MANY_HEADERS: spec(431, "The request has too many header fields", "Send fewer than 100."),
  CLIENT_CLOSED_REQUEST: spec(499, "The client went away", "The turn is kept as interrupted."),
  INTERNAL: spec(500, "Something went wrong", "Try again; the request id helps to find it in the log."),
  CONTEXT_TOO_LARGE: spec(413, "This is more than the model can read at once", "Send a shorter message, or start a new session."),
  MODEL_CONTENT_FILTER: spec(422, "The model's provider filtered this", "Your message is kept. Say it in other words."),
  MODEL_UNAVAILABLE: spec(502, "The model gave no answer", "Your message is kept. Try again in a moment."),
  MODEL_REFUSED_REQUEST: spec(
    502,
    "The model's provider refuses the request",
    "Trying again won't help: whoever runs this server finds what to change in its log and with `maitred doctor --model`.",
  ),
  MODEL_QUOTA: spec(503, "The model's provider takes no more requests now", "Your message is kept. Try again later."),
  EXTRACTION_FAILED: spec(502, "The model's extraction can't be used", "The turn's write-back is tried again; see its status."),
  STORAGE_UNAVAILABLE: spec(503, "The storage can't be written", "Try again soon; with the same Idempotency-Key nothing is done twice."),
  LONG_TERM_MEMORY_UNAVAILABLE: spec(503, "Long-term memory is out of reach", "Try again soon. Chats go on with short-term memory."),
  HISTORY_UNAVAILABLE: spec(503, "History search is out of reach", "Try again soon."),
  IDENTITY_UNAVAILABLE: spec(503, "Who you are can't be checked just now", "The server can't reach its keys. Try again soon."),
  ERASURE_UNDER_WAY: spec(503, "The erasure goes on", "Send the same request again: it waits on, and gives the receipt."),
  SHUTTING_DOWN: spec(503, "The server is stopping", "Try again soon."),
  MODEL_TIMEOUT: spec(504, "The model took too long", "Your message is kept. Try again in a moment."),
  EMBEDDING_UNAVAILABLE: spec(503, "The embedder gave no answer", "Try again soon."),
  INVALID_CONFIG: spec(500, "The configuration is not valid", "See the variables that are named."),
  STORAGE_IN_USE: spec(500, "The storage directory is in use", "Stop the process that is named, or set another MEMORY_STORAGE_DIR."),
  STORAGE_DAMAGED: spec(500, "Stored data is damaged", "Run `maitred doctor`."),
  REINDEX_REQUIRED: spec(
    500,
    "The stored vectors don't fit the configuration",
    "Run `maitred reindex` (in code: open once with `reembed: true`), or restore the former embedding settings.",
  ),
  QDRANT_TOO_OLD: spec(500, "This Qdrant server is too old", "Use Qdrant 1.17 or newer."),
  PORT_UNAVAILABLE: spec(500, "The port can't be had", "Set PORT to another one, or stop what listens there."),
  SERVER_UNREACHABLE: spec(503, "The server can't be reached", "Check the address, and that the server runs."),
  FENCED: spec(409, "A newer holder has the session's lock", "Send the message again."),
  ABORTED: spec(499, "The work was aborted", "Start it again if it is still wanted."),
} as const satisfies Record<string, ErrorSpec>;

/** Stable within a major version. */
export type ErrorCode = keyof typeof ERRORS;

/** One place in the input that is wrong. `pointer` is a JSON Pointer (RFC 6901). */
export interface ErrorDetail {
  readonly pointer: string;
  readonly detail: string;
}

/** A JSON Pointer (RFC 6901) along a path; names are told by their first 200 characters. The empty string for the whole. */
export function pointerTo(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).slice(0, 200).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** What an error says beside its code. */
export interface AppErrorOptions {
  /** What happened, for a person. Never holds message or memory text. Default: the code's title. */
  readonly detail?: string;
  /** What to do about it. Default: the code's hint. */
  readonly hint?: string;
  readonly errors?: readonly ErrorDetail[];
  readonly cause?: unknown;
  /** Seconds after which a retry makes sense; becomes `Retry-After`. */
  readonly retryAfterSeconds?: number;
}

/** What every part throws that knows what went wrong: `code` for programs, message and `hint` for people, `errors` for the places. */
export class AppError extends Error {
  override readonly name = "MaitredError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly title: string;
  readonly hint: string;
  readonly errors: readonly ErrorDetail[];
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    const spec = ERRORS[code];
    super(options.detail ?? spec.title, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = spec.status;
    this.title = spec.title;
    this.hint = options.hint ?? spec.hint;
    this.errors = options.errors ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** INVALID_REQUEST for one place. Default hint: the code's. */
export function invalidField(pointer: string, detail: string, hint?: string): AppError {
  return new AppError("INVALID_REQUEST", {
    detail: `${pointer}: ${detail}`,
    errors: [{ pointer, detail }],
    ...(hint !== undefined && { hint }),
  });
}

/** For `catch`: a value in the place of an error of these codes; any other is thrown on. */
export function insteadOf<T>(codes: ErrorCode | readonly ErrorCode[], value: T): (error: unknown) => T {
  return (error) => {
    if (isAppError(error) && [codes].flat().includes(error.code)) return value;
    throw error;
  };
}

/** Whether it is an {@link AppError}, of that code where one is given. */
export function isAppError(error: unknown, code?: ErrorCode): error is AppError {
  return error instanceof AppError && (code === undefined || error.code === code);
}
