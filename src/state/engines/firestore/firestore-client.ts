import { missingPackage } from "../../../platform/optional-package.js";
import { isLate, type Refusal, serviceErrors } from "../../service-errors.js";

/** Of `@google-cloud/firestore`, an optional peer, what the engine uses. */
export interface FirestoreClient {
  collection(path: string): Collection;
  collectionGroup(id: string): Query;
  doc(path: string): DocumentReference;
  batch(): WriteBatch;
  runTransaction<T>(work: (at: Transaction) => Promise<T>, options: ReadOnly): Promise<T>;
  terminate(): Promise<void>;
}

interface ReadOnly {
  readonly readOnly: true;
  readonly readTime?: Timestamp;
}

export interface Transaction {
  get(query: Query): Promise<Page>;
  getAll(...asked: readonly (DocumentReference | { readonly fieldMask: readonly string[] })[]): Promise<readonly Document[]>;
}

export interface Timestamp {
  toMillis(): number;
}

export interface DocumentReference {
  collection(path: string): Collection;
  get(): Promise<Document>;
  create(data: object): Promise<unknown>;
  update(data: object, only: Precondition): Promise<unknown>;
}

export interface Document {
  readonly id: string;
  readonly ref: DocumentReference;
  readonly exists: boolean;
  readonly readTime: Timestamp;
  readonly updateTime?: Timestamp;
  get(field: string): unknown;
  data(): object | undefined;
}

export interface Query {
  where(field: string, comparison: "==" | "<" | "<=" | ">=", value: unknown): Query;
  orderBy(field: string, direction?: "asc" | "desc"): Query;
  select(...fields: readonly string[]): Query;
  startAfter(...place: readonly unknown[]): Query;
  limit(documents: number): Query;
  get(): Promise<Page>;
}

interface Collection extends Query {
  doc(id: string): DocumentReference;
}

interface Page {
  readonly docs: readonly Document[];
  readonly readTime: Timestamp;
}

type Precondition = { readonly lastUpdateTime: Timestamp } | { readonly exists: true };

interface WriteBatch {
  create(document: DocumentReference, data: object): unknown;
  set(document: DocumentReference, data: object): unknown;
  update(document: DocumentReference, data: object, only: Precondition): unknown;
  delete(document: DocumentReference, only?: Precondition): unknown;
  commit(): Promise<readonly { readonly writeTime: Timestamp }[]>;
}

export interface FirestoreAddress {
  readonly project: string;
  readonly database: string;
  /** `host:port` of Google's emulator. Default: the service, by the credentials that the client finds. */
  readonly emulator?: string | undefined;
}

const PACKAGE = "@google-cloud/firestore";

/** @throws INVALID_CONFIG where the package isn't installed */
export async function firestoreClient({ project, database, emulator }: FirestoreAddress): Promise<FirestoreClient> {
  let library: unknown;
  try {
    library = await import(PACKAGE);
  } catch (cause) {
    throw missingPackage({ name: PACKAGE, setting: "FIRESTORE_PROJECT" }, cause);
  }
  const { Firestore } = library as { readonly Firestore: new (settings: object) => FirestoreClient };
  // As the client has it for an emulator that its own variable names.
  const local = { host: emulator, ssl: false, customHeaders: { Authorization: "Bearer owner" }, universeDomain: "googleapis.com" };
  return new Firestore({ projectId: project, databaseId: database, ...(emulator !== undefined && local) });
}

/** RESOURCE_EXHAUSTED. */
const QUOTA = 8;
/** By gRPC's number: what happened, and what to do about it. */
const REFUSALS: Readonly<Record<number, Refusal>> = {
  3: ["Firestore takes the request for invalid.", "Check FIRESTORE_PROJECT and FIRESTORE_DATABASE."],
  5: ["Firestore has no such database.", "Create it in native mode, or name another with FIRESTORE_PROJECT and FIRESTORE_DATABASE."],
  7: [
    "Firestore does not let this account do it.",
    "Give it the role Cloud Datastore User (roles/datastore.user) in FIRESTORE_PROJECT, and enable writes where they are disabled.",
  ],
  [QUOTA]: ["Firestore's quota is used up.", "Raise it, or wait until it is renewed; with the same Idempotency-Key nothing is done twice."],
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
/** Where it is refused for these the client asks again, and tells nobody. */
const NO_ANSWER = "no answer in time, as where its quota is used up or the credentials are refused";
const SERVER_ADDRESS = "Check FIRESTORE_PROJECT, and that Firestore can be reached (with FIRESTORE_EMULATOR_HOST: that the emulator runs).";

/** ALREADY_EXISTS, FAILED_PRECONDITION, ABORTED, and NOT_FOUND of what was there: somebody else was faster, and nothing was written. */
const CONFLICTS = [5, 6, 9, 10];

/** Whether a write was refused because what it is based on has changed. */
export function isConflict(error: unknown): boolean {
  return CONFLICTS.includes(codeOf(error) ?? -1);
}

export const FIRESTORE_ERRORS = serviceErrors({
  name: "Firestore",
  codeOf: (error) => (isLate(error) ? NO_ANSWER : codeOf(error)),
  refusalOf,
  mayPass: (error) => refusalOf(error) === undefined || codeOf(error) === QUOTA,
  advice: SERVER_ADDRESS,
});

function refusalOf(error: unknown): Refusal | undefined {
  const message = error instanceof Error ? error.message : "";
  if (message.includes("requires an index")) return MISSING_INDEX;
  if (message.includes("default credentials")) return NO_CREDENTIALS;
  return REFUSALS[codeOf(error) ?? -1];
}

function codeOf(error: unknown): number | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "number" ? error.code : undefined;
}
