/** What a text is for: to find by (`query`), to be found (`document`), or something that nobody waits for (`background`). In this order. */
export type TextKind = "query" | "document" | "background";

export interface TextOptions {
  readonly kind: TextKind;
  readonly signal?: AbortSignal | undefined;
}

/** Paths of what the thread runs. */
export interface ModelFiles {
  /** The runtime's module, and its WebAssembly. */
  readonly runtime: string;
  readonly wasm: string;
  /** The graph, and the weights that it names. */
  readonly model: string;
  readonly weights: string;
  /** One token a line. */
  readonly vocabulary: string;
}

export interface TextMessage {
  readonly id: number;
  readonly text: string;
}

export type ThreadMessage =
  | { readonly type: "ready" }
  | { readonly type: "vector"; readonly id: number; readonly vector: Float32Array<ArrayBuffer> }
  | { readonly type: "refusal"; readonly id: number; readonly message: string };

/** A text on its way to the thread. */
export interface Job {
  readonly text: string;
  readonly kind: TextKind;
  resolve(vector: Float32Array): void;
  reject(error: Error): void;
}
