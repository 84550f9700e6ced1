/** PostgreSQL's texts hold no NUL: a value that has one is kept as JSON behind this character, and so is one that begins with it. */
const AS_JSON = "\u0001";

export function toStored(value: string): string {
  return value.startsWith(AS_JSON) || value.includes("\0") ? `${AS_JSON}${JSON.stringify(value)}` : value;
}

export function fromStored(text: string): string {
  return text.startsWith(AS_JSON) ? (JSON.parse(text.slice(AS_JSON.length)) as string) : text;
}
