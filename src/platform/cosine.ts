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
