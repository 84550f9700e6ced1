import { AppError } from "../../../platform/errors.js";

/** By the status: what happened, and what to do about it. */
const SAID: Readonly<Record<number, readonly [detail: string, hint?: string]>> = {
  400: ["Cosmos DB takes the request for invalid.", "Check COSMOS_ENDPOINT and COSMOS_DATABASE."],
  401: ["Cosmos DB refuses the key.", "Check COSMOS_KEY: a primary or secondary key of the account."],
  403: [
    "Cosmos DB does not let this key or this address do it, or the partition is full.",
    "Give COSMOS_KEY a read-write key, let the account's firewall pass this machine; one user's data is 20 GB at most.",
  ],
  404: ["Cosmos DB's database or container is gone.", "Restore it, or name another with COSMOS_DATABASE, and start again."],
  429: ["Cosmos DB's throughput is used up.", "Raise the container's request units; with the same Idempotency-Key nothing is done twice."],
};
/** Not answered: what may go well a little later. */
const PASSING = [404, 408, 429, 449, 500, 503];
/** Of a batch that was refused as a whole the client hands on the words alone. */
const WORDS = [
  ["authorization token", 401],
  ["request rate is large", 429],
  ["size is too large", 413],
  ["authorized", 403],
  ["blocked", 403],
  ["forbidden", 403],
] as const;
const SERVER_ADDRESS = "Check COSMOS_ENDPOINT, and that Cosmos DB can be reached from here.";

/** Statuses by which a batch says that its head is not as it was read, or that another one is just being written: nothing came of it. */
const CONFLICTS = [404, 409, 412, 449];

/** Null: all was written. `conflict`: nothing was, as somebody else was faster. @throws STORAGE_UNAVAILABLE, COMMIT_TOO_LARGE */
export function conflictIn(outcomes: readonly { readonly statusCode: number }[]): "conflict" | null {
  // One that failed makes all others 424: nothing came of them.
  const failed = outcomes.find(({ statusCode }) => statusCode >= 400 && statusCode !== 424);
  if (failed === undefined) return null;
  if (CONFLICTS.includes(failed.statusCode)) return "conflict";
  throw cosmosError(Object.assign(new Error("A batch was refused."), { code: failed.statusCode }));
}

/** Whatever Cosmos DB, the network or the client says instead of an answer. Its own error holds what was sent: people's words. */
export function cosmosError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const code = codeOf(error);
  if (code === 413) return new AppError("COMMIT_TOO_LARGE", { detail: "A commit that is more than Cosmos DB takes at once." });
  const [detail, hint] = SAID[Number(code)] ?? [`Cosmos DB is out of reach${code === undefined ? "" : ` (${code})`}.`];
  const cause = Object.assign(new Error(detail), { code });
  return new AppError("STORAGE_UNAVAILABLE", { detail, ...(hint !== undefined && { hint }), cause, retryAfterSeconds: 1 });
}

/** Whether a start that failed may go well a little later. */
export function mayPass({ cause }: AppError): boolean {
  const code = codeOf(cause);
  return typeof code !== "number" || PASSING.includes(code);
}

/** What to do about a start that failed. */
export function hintOf({ cause }: AppError): string {
  return SAID[Number(codeOf(cause))]?.[1] ?? SERVER_ADDRESS;
}

export function codeOf(error: unknown): number | string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("code" in error && (typeof error.code === "number" || typeof error.code === "string")) return error.code;
  const said = error.message.toLowerCase();
  return WORDS.find(([words]) => said.includes(words))?.[1];
}
