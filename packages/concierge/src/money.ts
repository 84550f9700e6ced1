/** "€38", "€38.50". */
export function euros(cents: number): string {
  return `€${cents % 100 === 0 ? cents / 100 : (cents / 100).toFixed(2)}`;
}
