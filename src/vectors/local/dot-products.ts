/** Of `WebAssembly`, what is used here: Node has it, and no library of TypeScript's without a browser describes it. */
interface Wasm {
  readonly Memory: new (size: { readonly initial: number }) => WasmMemory;
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object, imports: { env: { memory: WasmMemory } }) => { readonly exports: { readonly dots: Dots } };
}

/** Sizes in pages of {@link PAGE_BYTES}. */
interface WasmMemory {
  /** Another one after each growth. */
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** Addresses and sizes in bytes; those of a row are multiples of {@link STEP_BYTES}. */
type Dots = (query: number, firstRow: number, rows: number, rowBytes: number, products: number) => void;

export const PAGE_BYTES = 65_536;
/** What a step of the loop along a row takes. */
export const STEP_BYTES = 128;

/** What `dot-products.wat` says, compiled, in base64; a test compiles it again. */
export const CODE =
  "AGFzbQEAAAABCQFgBX9/f39/AAIPAQNlbnYGbWVtb3J5AgABAwIBAAcIAQRkb3RzAAAKxgIBwwICAn8CeyAAIANqIQYCQANAIAJFDQH9DAAAAAAAAAAAAAAAAAAAAAAh" +
  "B/0MAAAAAAAAAAAAAAAAAAAAACEIIAAhBQNAIAcgBf0ABAAgAf0ABAD95gH95AEhByAIIAX9AAQQIAH9AAQQ/eYB/eQBIQggByAF/QAEICAB/QAEIP3mAf3kASEHIAgg" +
  "Bf0ABDAgAf0ABDD95gH95AEhCCAHIAX9AARAIAH9AARA/eYB/eQBIQcgCCAF/QAEUCAB/QAEUP3mAf3kASEIIAcgBf0ABGAgAf0ABGD95gH95AEhByAIIAX9AARwIAH9" +
  "AARw/eYB/eQBIQggBUGAAWohBSABQYABaiEBIAUgBkkNAAsgByAI/eQBIQcgBCAH/R8AIAf9HwGSIAf9HwIgB/0fA5KSOAIAIARBBGohBCACQQFrIQIMAAsLCw==";

const { Memory, Module, Instance } = (globalThis as unknown as { readonly WebAssembly: Wasm }).WebAssembly;
let compiled: object | undefined;

/** A memory of so many pages, and the dot products of one vector in it with others. @throws RangeError where there is no room for it */
export function openDotProducts(pages: number): { readonly memory: WasmMemory; readonly dots: Dots } {
  const memory = new Memory({ initial: pages });
  compiled ??= new Module(Buffer.from(CODE, "base64"));
  return { memory, dots: new Instance(compiled, { env: { memory } }).exports.dots };
}
