import type { Owner } from "../../domain/owner.js";
import { AsyncValue } from "../../platform/async-value.js";

/**
 * What Mem0 is working on. Mem0 knows no owners of ours, no signals and no ids of ours, so the service opens a scope around
 * each call, and the client and the embedder that Mem0 was given look into it. Outside of a scope they refuse to work.
 */
export type Mem0Scope = {
  readonly owner: Owner;
  /** The text that Mem0 was given, and its vector: made beforehand, so that each text is embedded once, and in batches. */
  readonly text: string;
  readonly vector: readonly number[];
  /** What went wrong in the client: Mem0 swallows some errors, prints others, and turns off features after a third kind. */
  readonly failures: unknown[];
  /** Hits that were not this owner's, or no memory at all; they were dropped. */
  foreign: number;
} & (
  | {
      readonly kind: "search";
      /** The least cosine of a hit that shares no word with the text; infinite: there is no hit. Default: any. */
      readonly relevantFrom?: number;
      /** Of a hit no more is read than whose and which it is, and its text. Default: all of it. */
      readonly brief?: boolean;
    }
  | { readonly kind: "add"; readonly memoryId: string /** Points that were handed to the store. */; upserted: number }
);

/** One for each Mem0Service, never shared: a scope is found by the calls that were made inside it alone. */
export type Mem0Scopes = AsyncValue<Mem0Scope>;

export function newScopes(): Mem0Scopes {
  return new AsyncValue<Mem0Scope>();
}
