/**
 * The numbers as an array of their own. `Array.from` asks a typed array's iterator for one after the other, with an object for each: a
 * hundred times the memory of what it makes.
 */
export function numbersOf(typed: Float32Array): number[] {
  const numbers = new Array<number>(typed.length);
  for (let index = 0; index < typed.length; index++) numbers[index] = typed[index] ?? 0;
  return numbers;
}
