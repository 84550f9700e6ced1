import { v5, v7, validate } from "uuid";

/** The name space of all ids that Maitred derives from content (RFC 9562, version 5). */
const NAMESPACE = "5b0e8a0e-6f0d-5c53-9d0f-6a6e2f0c8d11";

/** A new id that sorts by time (UUIDv7). */
export function newId(): string {
  return v7();
}

/** The same parts give the same id, on every machine (UUIDv5 of the parts as JSON, so that no part can run into the next). */
export function derivedId(
  kind: "memory" | "memory marker" | "session" | "message" | "point" | "receipt" | "booking" | "event",
  ...parts: readonly (string | number)[]
): string {
  return v5(JSON.stringify([kind, ...parts]), NAMESPACE);
}

/** Every id that Maitred makes is a UUID in lower case; nothing else may touch a path or a query. */
export function isId(value: string): boolean {
  return validate(value) && value === value.toLowerCase();
}
