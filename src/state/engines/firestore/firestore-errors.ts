import { AppError } from "../../../platform/errors.js";

/** By gRPC's number: what happened, and what to do about it. */
const SAID: Readonly<Record<number, readonly [detail: string, hint?: string]>> = {
  3: ["Firestore takes the request for invalid.", "Check FIRESTORE_PROJECT and FIRESTORE_DATABASE."],
  5: ["Firestore has no such database.", "Create it in native mode, or name another with FIRESTORE_PROJECT and FIRESTORE_DATABASE."],
  7: [
    "Firestore does not let this account do it.",
    "Give it the role Cloud Datastore User (roles/datastore.user) in FIRESTORE_PROJECT, and enable writes where they are disabled.",
  ],
  8: ["Firestore's quota is used up.", "Raise it, or wait until it is renewed; with the same Idempotency-Key nothing is done twice."],
  9: ["Firestore can't do this in its present state.", "Use a database in native mode: name it with FIRESTORE_DATABASE."],
  16: ["Firestore refuses the credentials.", "Check the file that GOOGLE_APPLICATION_CREDENTIALS names."],
};
const MISSING_INDEX = [
  "Firestore lacks an index.",
  "Run `firebase deploy --only firestore:indexes` with deploy/firestore.indexes.json of the repository, and wait until it is built.",
] as const;
const NO_CREDENTIALS = [
  "There are no credentials for Firestore.",
  "Set GOOGLE_APPLICATION_CREDENTIALS, or FIRESTORE_EMULATOR_HOST for Google's emulator.",
] as const;
const SERVER_ADDRESS = "Check FIRESTORE_PROJECT, and that Firestore can be reached (with FIRESTORE_EMULATOR_HOST: that the emulator runs).";

/** ALREADY_EXISTS, FAILED_PRECONDITION, ABORTED, and NOT_FOUND of what was there: somebody else was faster, and nothing was written. */
const CONFLICTS = [5, 6, 9, 10];

/** Whether a write was refused because what it is based on has changed. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.includes(codeOf(error) ?? -1);
}

/** Whatever Firestore, the network or the client says instead of an answer. */
export function firestoreError(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  const code = codeOf(cause);
  const [detail, hint] = said(cause) ?? [`Firestore is out of reach${code === undefined ? "" : ` (${code})`}.`];
  return new AppError("STORAGE_UNAVAILABLE", { detail, ...(hint !== undefined && { hint }), cause, retryAfterSeconds: 1 });
}

/** Whether a start that failed may go well a little later. */
export function mayPass({ cause }: AppError): boolean {
  return said(cause) === undefined || codeOf(cause) === 8;
}

/** What to do about a start that failed. */
export function hintOf({ cause }: AppError): string {
  return said(cause)?.[1] ?? SERVER_ADDRESS;
}

function said(cause: unknown): readonly [detail: string, hint?: string] | undefined {
  const message = cause instanceof Error ? cause.message : "";
  if (message.includes("requires an index")) return MISSING_INDEX;
  if (message.includes("default credentials")) return NO_CREDENTIALS;
  return SAID[codeOf(cause) ?? -1];
}

function codeOf(error: unknown): number | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "number" ? error.code : undefined;
}
