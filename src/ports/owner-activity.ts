import type { Owner } from "../domain/owner.js";

export interface OwnersQuery {
  /** Default: of all tenants. */
  readonly tenant?: string;
  /** 1 to 200. Default 20. */
  readonly limit?: number;
  readonly cursor?: string;
}

/** An owner who has sessions: how many, of any status, and when anything last happened in one of them. */
export interface OwnerActivity {
  readonly owner: Owner;
  readonly sessions: number;
  /** ISO 8601 UTC. */
  readonly lastActiveAt: string;
}
