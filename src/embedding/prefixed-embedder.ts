import { createHash } from "node:crypto";
import type { Embedder, EmbedOptions } from "../ports/embedding.js";

export interface Prefixes {
  readonly query: string;
  readonly document: string;
}

/**
 * Puts a model's prefixes before its texts (`search_query: …`, `search_document: …`). Stored vectors depend on the one for documents, so
 * the
 * id does too. The embedder itself where there are none.
 */
export function prefixedEmbedder(inner: Embedder, prefixes: Prefixes): Embedder {
  return prefixes.query === "" && prefixes.document === "" ? inner : new PrefixedEmbedder(inner, prefixes);
}

class PrefixedEmbedder implements Embedder {
  readonly id: string;
  readonly dimension: number;
  readonly lexical: boolean;
  readonly remote: boolean;
  readonly byKind: boolean;
  readonly #inner: Embedder;
  readonly #prefixes: Prefixes;

  constructor(inner: Embedder, prefixes: Prefixes) {
    this.#inner = inner;
    this.#prefixes = prefixes;
    const mark = createHash("sha256").update(prefixes.document).digest("hex").slice(0, 8);
    this.id = prefixes.document === "" ? inner.id : `${inner.id}-${mark}`;
    this.dimension = inner.dimension;
    this.lexical = inner.lexical;
    this.remote = inner.remote ?? false;
    this.byKind = (inner.byKind ?? false) || prefixes.query !== prefixes.document;
  }

  get problem(): string | null {
    return this.#inner.problem ?? null;
  }

  embed(texts: readonly string[], options: EmbedOptions = {}): Promise<readonly Float32Array[]> {
    const prefix = this.#prefixes[options.kind ?? "document"];
    return this.#inner.embed(
      texts.map((text) => prefix + text),
      options,
    );
  }
}
