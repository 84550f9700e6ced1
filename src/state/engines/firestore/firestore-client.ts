import { missingPackage } from "../../../platform/optional-package.js";

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
