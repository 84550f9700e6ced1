import type { Owner } from "../domain/owner.js";

/** One owner's content, on its way into a store and out of it. Pure and quick: no I/O. */
export interface OwnerContent {
  encode(content: Uint8Array): Uint8Array;
  /** @throws where these bytes are damaged, or were not encoded for this owner */
  decode(kept: Uint8Array): Uint8Array;
}

/**
 * What all content passes where a store of state keeps it and reads it: the place for encryption per owner. A store without one keeps
 * content as it stands. Content that was kept before there was a codec is read as it is; so a codec can be added at any time, and not be
 * taken away.
 */
export interface ContentCodec {
  /**
   * Asked before every write and read of an owner's content: keys are fetched here, and best kept in mind. What it rejects with, the
   * store's call rejects with.
   */
  of(owner: Owner): Promise<OwnerContent>;
}
