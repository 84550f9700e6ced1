import { type CreateCollectionArgs, VectorStoreError } from "../../ports/vectors.js";
import { kindOf, type PayloadIndexes } from "./filter.js";

/** A collection as it was made, and what is indexed of its payloads. */
export interface Collection {
  readonly name: string;
  readonly config: CreateCollectionArgs;
  /** The payload's key that names whose a point is; null before there is such an index. */
  readonly tenantKey: string | null;
  readonly indexes: PayloadIndexes;
}

/** What `getCollection` says. */
export function describe({ config, indexes }: Collection): unknown {
  const { vectors, sparse_vectors } = config;
  return {
    config: { params: { vectors, ...(sparse_vectors === undefined ? {} : { sparse_vectors }) } },
    payload_schema: Object.fromEntries(
      [...indexes].map(([field, schema]) => [
        field,
        { data_type: kindOf(schema), ...(typeof schema === "string" ? {} : { params: schema }) },
      ]),
    ),
  };
}

export function noCollection(name: string, options?: { readonly cause: unknown }): VectorStoreError {
  return new VectorStoreError(404, `Not found: Collection \`${name}\` doesn't exist!`, options);
}
