import { hash } from "node:crypto";
import { type Owner, parseOwner } from "../../domain/owner.js";
import { numberKey, systemPartition } from "../partition.js";

/**
 * Where events lie. In their owner's partition, until they are in the feed:
 * - `outbox`: the owner, as long as there are rows; `outbox/{id}`: events of one commit.
 * - `outbox-erased`: how often the outbox was emptied by an erasure.
 *
 * In the feed's partition, by the place that an event has in the feed:
 * - `last`: the last place that was given away.
 * - `feed/{place}`: the event and its owner; `id/{event}`: its place; `owner/{hash}/{place}` and `tenant/{hash}/{place}`: whose it is.
 * - `erased/{hash}`: of which emptying of the outbox the feed has been told: what was read before it is not added any more.
 * - `queue/{hash}/{place}`: what is to be delivered, oldest first; `waiting/{hash}`: when, and how often it was tried;
 *   `due/{ms}-{hash}`: the owners in the order in which they are due.
 * - `dead/{hash of the tenant}/{place}`: what was given up; `dead-id/{event}`: its key.
 */
export const FEED = systemPartition("events");

export const OUTBOX = "outbox";
export const OUTBOX_ROWS = "outbox/";
export const OUTBOX_ERASED = "outbox-erased";

export const LAST = "last";
export const FEED_ROWS = "feed/";
export const QUEUE_ROWS = "queue/";
export const DUE_ROWS = "due/";
export const DEAD_ROWS = "dead/";

export const feedKey = (place: number) => `${FEED_ROWS}${numberKey(place)}`;
export const idKey = (id: string) => `id/${id}`;
export const ownerRows = (ownerHash: string) => `owner/${ownerHash}/`;
export const tenantRows = (tenantHash: string) => `tenant/${tenantHash}/`;
export const erasedKey = (ownerHash: string) => `erased/${ownerHash}`;
export const queueRows = (ownerHash: string) => `${QUEUE_ROWS}${ownerHash}/`;
export const waitingKey = (ownerHash: string) => `waiting/${ownerHash}`;
export const dueKey = (atMs: number, ownerHash: string) => `${DUE_ROWS}${numberKey(atMs)}-${ownerHash}`;
export const deadRows = (tenantHash: string) => `${DEAD_ROWS}${tenantHash}/`;
export const deadIdKey = (id: string) => `dead-id/${id}`;

/** The owner's hash in a key that ends with it. */
export function hashOfDueKey(key: string): string {
  return key.slice(key.indexOf("-") + 1);
}

/** The last part of a key: its place, as it stands there. */
export function placeOf(key: string): string {
  return key.slice(key.lastIndexOf("/") + 1);
}

export function tenantHash(tenant: string): string {
  return hash("sha256", tenant);
}

export function tenantHashOf(owner: Owner): string {
  return tenantHash(parseOwner(owner).tenant);
}

/** As it stands behind an event's id: its place, and the hashes of its owner and of their tenant. */
export type KnownPlace = readonly [place: number, ownerHash: string, tenantHash: string];

/** The four keys of an event in the feed. */
export function keysOfEvent(id: string, [place, owner, tenant]: KnownPlace): readonly string[] {
  const at = numberKey(place);
  return [feedKey(place), idKey(id), `${ownerRows(owner)}${at}`, `${tenantRows(tenant)}${at}`];
}
