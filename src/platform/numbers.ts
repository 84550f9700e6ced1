/**
 * The numbers as an array of their own. `Array.from` asks a typed array's iterator for one after the other, with an object for each: a
 * hundred times the memory of what it makes.
 */
export function numbersOf(typed: Float32Array): number[] {
  const numbers = new Array<number>(typed.length);
  for (let index = 0; index < typed.length; index++) numbers[index] = typed[index] ?? 0;
  return numbers;
}

/** 32-bit floats in base64, little-endian, as OpenAI's embeddings are. */
export function floatsText(numbers: Float32Array): string {
  return Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength).toString("base64");
}

/** Of {@link floatsText}; what is left over at the end of a text that was cut is left out. */
export function floatsIn(text: string): Float32Array {
  const bytes = Buffer.from(text, "base64");
  return Float32Array.from({ length: Math.floor(bytes.length / 4) }, (_, place) => bytes.readFloatLE(place * 4));
}

/** The cosine of two vectors; 0 where one has no length. */
export function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [dot, ofA, ofB] = [0, 0, 0];
  for (let i = 0; i < b.length; i++) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0];
    dot += x * y;
    ofA += x * x;
    ofB += y * y;
  }
  return ofA === 0 || ofB === 0 ? 0 : dot / Math.sqrt(ofA * ofB);
}
