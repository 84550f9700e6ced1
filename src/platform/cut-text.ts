/** So many UTF-16 units of a text's beginning, and never half of a surrogate pair. */
export function cutText(text: string, units: number): string {
  return text.slice(0, units).replace(/[\uD800-\uDBFF]$/, "");
}
