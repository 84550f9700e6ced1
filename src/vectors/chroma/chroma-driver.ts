import { missingPackage } from "../../platform/optional-package.js";

/** The part of the package `chromadb` that is used. */
export interface ChromaDriver {
  readonly ChromaClient: new (address: { readonly host: string; readonly port: number; readonly ssl: boolean }) => ChromaApi;
}

export interface ChromaApi {
  version(): Promise<string>;
  heartbeat(): Promise<number>;
  createCollection(args: {
    readonly name: string;
    readonly metadata: Metadata;
    readonly configuration: { readonly hnsw: { readonly space: "ip"; readonly sync_threshold: number } };
    /** Vectors come with the points. */
    readonly embeddingFunction: null;
  }): Promise<ChromaCollection>;
  getCollection(args: { readonly name: string; readonly embeddingFunction?: undefined }): Promise<ChromaCollection>;
  deleteCollection(args: { readonly name: string }): Promise<void>;
}

export type Metadata = Readonly<Record<string, string | number | boolean | null>>;
type Where = Readonly<Record<string, string | { readonly $in: readonly string[] }>>;

export interface ChromaCollection {
  readonly id: string;
  readonly metadata?: Metadata | undefined;
  modify(args: { readonly metadata: Metadata }): Promise<void>;
  add(records: ChromaRecords): Promise<unknown>;
  get(args: {
    readonly ids?: readonly string[];
    readonly where?: Where;
    readonly include: readonly ("embeddings" | "metadatas")[];
  }): Promise<{
    readonly ids: readonly string[];
    readonly embeddings: readonly (readonly number[])[];
    readonly metadatas: readonly (Metadata | null)[];
  }>;
  delete(args: { readonly ids: readonly string[] }): Promise<unknown>;
}

export interface ChromaRecords {
  readonly ids: readonly string[];
  readonly embeddings: readonly (readonly number[])[];
  readonly metadatas: readonly Metadata[];
}

const PACKAGE: string = "chromadb";

/** An optional peer. @throws INVALID_CONFIG where it isn't installed */
export async function chromaDriver(): Promise<ChromaDriver> {
  try {
    return (await import(PACKAGE)) as ChromaDriver;
  } catch (cause) {
    throw missingPackage({ name: PACKAGE, setting: "CHROMA_URL" }, cause);
  }
}

export function isNotFound(error: unknown): boolean {
  return error instanceof Error && error.name === "ChromaNotFoundError";
}
