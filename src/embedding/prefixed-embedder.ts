import { createHash } from "node:crypto";
import type { Embedder, EmbedOptions } from "../ports/embedding.js";

export interface Prefixes {
  readonly query: string;
  readonly document: string;
}

/**
 * Puts a model's prefixes before its texts (`search_query: …`, `search_document: …`). Stored vectors depend on the one for documents, so
 * the id does too. The embedder itself where there are none.
 */
export function prefixedEmbedder(inner: Embedder, prefixes: Prefixes): Embedder {
  const { query, document } = prefixes;
  if (query === "" && document === "") return inner;
  const mark = createHash("sha256").update(document).digest("hex").slice(0, 8);
  return {
    id: document === "" ? inner.id : `${inner.id}-${mark}`,
    dimension: inner.dimension,
    lexical: inner.lexical,
    remote: inner.remote ?? false,
    byKind: (inner.byKind ?? false) || query !== document,
    get problem() {
      return inner.problem ?? null;
    },
    embed(texts, options: EmbedOptions = {}) {
      const prefix = prefixes[options.kind ?? "document"];
      const prefixed = texts.map((text) => prefix + text);
      return inner.embed(prefixed, options);
    },
  };
}
