import type { Memory } from "../domain/memory.js";

/** Where a memory lies below its user's namespace: the labels behind it, and its key. */
export interface StoreAddress {
  readonly tail: readonly string[];
  readonly key: string;
}

/** A memory keeps where it was put as a tag: `store.work.food:key`. Labels hold neither `.` nor `:`. */
const TAG = "store";
const MAX_TAG_CHARS = 64;
/** Labels and key, each with the mark before it. */
export const MAX_TAIL_AND_KEY_CHARS = MAX_TAG_CHARS - TAG.length - 2;

/** Null where it is too long for a tag. */
export function tagOf({ tail, key }: StoreAddress): string | null {
  const tag = `${TAG}${tail.map((label) => `.${label}`).join("")}:${key}`;
  return key !== "" && tag.length <= MAX_TAG_CHARS ? tag : null;
}

export function isStoreTag(tag: string): boolean {
  return tag.startsWith(`${TAG}:`) || tag.startsWith(`${TAG}.`);
}

/** One that was not put lies in the user's namespace itself, under its id. */
export function addressesOf({ id, tags }: Memory): readonly StoreAddress[] {
  const put = tags.filter(isStoreTag).flatMap((tag) => {
    const colon = tag.indexOf(":");
    if (colon === -1) return [];
    const labels = tag.slice(0, colon).split(".").slice(1);
    return [{ tail: labels, key: tag.slice(colon + 1) }];
  });
  return put.length > 0 ? put : [{ tail: [], key: id }];
}
